"""Questions to page-cited answers over the documents that were added, and all that is remembered."""

import os

# onnxruntime looks up its maker's host and keeps a device id and a queue of events in the user's cache, unless it finds this when it is loaded. Chroma
# may load it too: whatever imports either of them imports this package first.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
