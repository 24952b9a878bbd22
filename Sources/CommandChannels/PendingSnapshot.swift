import StreamLogic

package enum SnapshotPurpose {
    /// The snapshot is saved in the folder.
    case keep
    /// The asker receives the file.
    case send
}

/// A snapshot on its way from the camera to the card or to its asker.
package struct PendingSnapshot {
    package enum Stage {
        /// Waiting for the camera.
        case taking
        /// Being written to the card, which may take a while.
        case saving
    }

    /// More at once are a mistake.
    package static let limit = 4

    package let request: SnapshotRequest
    package let purpose: SnapshotPurpose
    /// Whether the brightness was unknown.
    package var mayNeedFlash: Bool
    package var stage = Stage.taking

    package init(_ request: SnapshotRequest, for purpose: SnapshotPurpose, mayNeedFlash: Bool) {
        self.request = request
        self.purpose = purpose
        self.mayNeedFlash = mayNeedFlash
    }
}
