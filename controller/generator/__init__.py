"""What runs inside the generator's processes: one master that obeys the controller, and the workers that send load.

Only this package imports locust and gevent. Data path: `controller.edges.generator_process` starts `__main__` →
`master` relays orders and leases to `worker` → `crowd` of `user`s, each on its own `connection` → `ledger` counts every
request → once a second a report back to `master` → `book` merges → `Interval` for the controller, `metrics` for
Prometheus.
"""
