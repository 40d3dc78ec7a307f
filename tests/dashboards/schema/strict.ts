// The shape that a generated dashboard must have, stricter than @grafana/schema: options and field settings by panel
// type, targets of Prometheus only, no key that is not known. Checked against one Grafana version at a time.
import type * as schema from "@grafana/schema";
import type * as heatmap from "panelcfg/heatmap";
import type * as stat from "panelcfg/stat";
import type * as stateTimeline from "panelcfg/statetimeline";
import type * as table from "panelcfg/table";
import type * as timeseries from "panelcfg/timeseries";
import type * as xychart from "panelcfg/xychart";

// String enums as the plain strings that JSON holds.
type Plain<T> = T extends string
  ? `${T}`
  : T extends number | boolean | null | undefined
    ? T
    : T extends Array<infer Item>
      ? Array<Plain<Item>>
      : T extends object
        ? { [Key in keyof T]: Plain<T[Key]> }
        : T;

type PrometheusRef = { type: "prometheus"; uid: "${datasource}" };
type GrafanaRef = { type: "grafana"; uid: "-- Grafana --" };

type Target = {
  datasource: PrometheusRef;
  editorMode: "code";
  exemplar: boolean;
  expr: string;
  format: "time_series" | "heatmap" | "table";
  instant: boolean;
  legendFormat: string;
  range: boolean;
  refId: string;
};

type Property<Custom> =
  | { id: "color"; value: Plain<schema.FieldColor> }
  | { id: "unit" | "displayName"; value: string }
  | { id: "links"; value: Array<{ title: string; url: string; targetBlank: boolean }> }
  | { id: "mappings"; value: Array<Plain<schema.ValueMap>> }
  | { [Key in keyof Custom & string]-?: { id: `custom.${Key}`; value: Plain<NonNullable<Custom[Key]>> } }[keyof Custom &
      string];

type Matcher = { id: "byFrameRefID" | "byName"; options: string };

type Drawn<Type extends string, Options, Custom> = Plain<
  Omit<schema.Panel, "datasource" | "fieldConfig" | "options" | "targets" | "type" | "id" | "title" | "gridPos">
> & {
  type: Type;
  id: number;
  title: string;
  description: string;
  gridPos: Plain<schema.GridPos>;
  datasource: PrometheusRef;
  targets: Array<Target>;
  options: Plain<Options>;
  fieldConfig: {
    defaults: Plain<Omit<schema.FieldConfig, "custom">> & { custom: Plain<Custom> };
    overrides: Array<{ matcher: Matcher; properties: Array<Property<Custom>> }>;
  };
};

type Picture =
  | Drawn<"timeseries", timeseries.Options, timeseries.FieldConfig>
  | Drawn<"stat", stat.Options, Record<string, never>>
  | Drawn<"heatmap", heatmap.Options, heatmap.FieldConfig>
  | Drawn<"state-timeline", stateTimeline.Options, stateTimeline.FieldConfig>
  | Drawn<"table", table.Options, table.FieldConfig>
  | Drawn<"xychart", xychart.Options, xychart.FieldConfig>;

type Panel = (Plain<Omit<schema.RowPanel, "panels">> & { panels: Array<Picture> }) | Picture;

type Annotation = { enable: boolean; hide: boolean; iconColor: string; name: string } & (
  | { datasource: GrafanaRef; builtIn: 1; type: "dashboard" }
  | { datasource: GrafanaRef; target: schema.AnnotationTarget & { refId: string } }
  | {
      datasource: PrometheusRef;
      expr: string;
      step: string;
      tagKeys: string;
      textFormat: string;
      titleFormat: string;
      useValueForTime: "on";
    }
);

type Variable = Plain<Omit<schema.VariableModel, "datasource" | "query" | "name" | "label">> & {
  name: string;
  label: string;
} & (
    | { type: "datasource"; query: "prometheus" }
    | {
        type: "query";
        datasource: PrometheusRef;
        definition: string;
        query: { qryType: 5; query: string; refId: string };
      }
  );

export type StrictDashboard = Plain<
  Omit<schema.Dashboard, "panels" | "annotations" | "templating" | "uid" | "title" | "editable" | "timezone">
> & {
  uid: string;
  title: string;
  editable: false;
  timezone: "utc";
  panels: Array<Panel>;
  annotations: { list: Array<Annotation> };
  templating: { list: Array<Variable> };
};
