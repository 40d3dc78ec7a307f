"""Takes every HTTP request where it belongs: the API, the metric page, the stand-in's own control, or nowhere."""

from __future__ import annotations

from .call import Call, Wire
from .codes import Code, Failure
from .control import Control
from .http_answers import HTML, NO_TYPE, error_page
from .http_request import HttpRequest
from .ledger import Ledger
from .metric_page import CONTENT_TYPE, MetricPage
from .rest_answers import error_answer, metadata_answer, status_answer
from .rest_inference import RestBody, RestInference
from .routes import INFERENCES, Route, is_api, route
from .servables import Servables
from .service import JSON, Service

PAGE_TYPE = CONTENT_TYPE.encode("ascii")
NO_ORIGIN = Failure(Code.FAILED_PRECONDITION, "Origin header is missing in CORS preflight")


class RestApi:
    """The HTTP side of the stand-in."""

    def __init__(
        self,
        servables: Servables,
        inference: RestInference,
        service: Service,
        ledger: Ledger,
        page: MetricPage,
        page_path: str | None,
        control: Control,
    ) -> None:
        """`page_path` is where the metric page is served; None with monitoring off."""
        self._servables = servables
        self._inference = inference
        self._service = service
        self._ledger = ledger
        self._page = page
        self._page_path = page_path
        self._control = control

    def handle(self, request: HttpRequest) -> None:
        """Answer one request, now or later."""
        target = request.target
        if is_api(target):
            self._handle_api(request, route(request.method, target))
        elif self._page_path is not None and target.partition("?")[0] == self._page_path:
            self._handle_page(request)
        elif target.startswith(Control.PREFIX):
            status, body = self._control.answer(request.method, target, request.body, request.peer)
            request(status, body, JSON)
        else:
            call = self._call(request, "outside")
            page = error_page(404)
            delivered = request(404, page, HTML, close=True)
            self._ledger.answered(call, 404, Code.NOT_FOUND, call.arrival, delivered=delivered)

    def _call(self, request: HttpRequest, kind: str) -> Call:
        call = Call(Wire.REST, kind, request.target, request.arrival, request)
        self._ledger.received(call)
        return call

    def _handle_api(self, request: HttpRequest, asked: Route) -> None:
        call = self._call(request, asked.kind)
        call.model, call.api = asked.model, asked.api
        if asked.kind in INFERENCES:
            call.runtime_api = asked.kind.capitalize()
            call.request = RestBody(asked, request.body, request.gzipped)
            self._service.infer(call, self._inference.begin, self._inference.refuse)
            return
        try:
            body, content_type = self._described(request, asked)
        except Failure as failure:
            silent = asked.silent or asked.kind == "options"
            body = b"" if silent else error_answer(failure.message)
            self._service.settle(call, failure.code, body, content_type=NO_TYPE if asked.kind == "options" else JSON)
            return
        self._service.settle(call, Code.OK, body, content_type=content_type)

    def _described(self, request: HttpRequest, asked: Route) -> tuple[bytes, bytes]:
        """The answer to a request that runs no model. Raises Failure."""
        match asked.kind:
            case "status":
                return status_answer(self._servables.states(asked.model, asked.version)), JSON
            case "metadata":
                version = self._servables.find(asked.model, asked.version, asked.label)
                return metadata_answer(asked.model, version), JSON
            case "options" if "http://" in request.origin or "https://" in request.origin:
                return b"", NO_TYPE
            case _:
                raise asked.failure or NO_ORIGIN

    def _handle_page(self, request: HttpRequest) -> None:
        """The metric page. The real server finds it by path, and then refuses it if there is a query."""
        call = self._call(request, "metrics")
        call.counted = False
        code, text = Code.OK, ""
        if request.target == self._page_path:
            text = self._page.text()
        else:
            code = Code.INVALID_ARGUMENT
            text = f"Unexpected path: {request.target}. Should be {self._page_path}"
        self._service.settle(call, code, text.encode("utf-8", "surrogateescape"), content_type=PAGE_TYPE)
