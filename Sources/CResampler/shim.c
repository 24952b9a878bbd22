// Anchors the target: it has headers only.
