/// Why a camera cannot be opened at all.
enum CameraThreadError: Error, Hashable {
    /// The last closing, or an abandoned opening, has not returned.
    case stillInUse
    /// Its driver takes longer than the time limit.
    case notOpened

    /// Drivers wait for their devices.
    static let closingTimeout = Duration.seconds(3)
    /// Longer than for a V4L2 driver, because libcamera has more to do.
    static let openingTimeout = Duration.seconds(10)
}

extension CameraThreadError: CustomStringConvertible {
    var description: String {
        switch self {
        case .stillInUse: "its driver has not released it for \(Self.closingTimeout)"
        case .notOpened: "it did not open within \(Self.openingTimeout)"
        }
    }
}
