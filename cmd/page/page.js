// SPDX-License-Identifier: MIT
// The script of the HTML page: modules, which the build bundles. The data are JSON in #data; cmd/report/format_html.c
// describes the encoding.
import { showPage, startControls } from "./page_controls.js";
import { useTree } from "./page_data.js";
import { startGaps } from "./page_gaps.js";
import { startGraph } from "./page_graph.js";
import { busy, close, keep } from "./page_keep.js";
import { startLanes } from "./page_lanes.js";
import { start } from "./page_live.js";
import { useData } from "./page_model.js";
import { startTables } from "./page_tables.js";
import { startTimelineData } from "./page_timeline_data.js";
import { startTimelineDraw } from "./page_timeline_draw.js";
import { startTimelineTables } from "./page_timeline_tables.js";
import { startTimelineTop } from "./page_timeline_top.js";
import { startTimelineUse } from "./page_timeline_use.js";
import { startView } from "./page_view.js";

// Shows data. The page of a server does so again when there are more: everything is rebuilt, and what the user has
// chosen is put back from @kept, which is what keep() returned before.
function showData(data, kept) {
  useData(data);
  useTree();
  startView();
  startGraph();
  startLanes();
  startTables();
  startTimelineData();
  startTimelineDraw();
  startTimelineTop();
  startTimelineUse();
  startTimelineTables();
  startGaps();
  startControls();
  showPage(kept);
  return { keep, close, busy };
}
start(showData);
document.documentElement.dataset.ready = "1";
