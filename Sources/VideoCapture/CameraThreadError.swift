/// Why a camera is not opened at all.
enum CameraThreadError: Error, Hashable {
    /// Its last closing, or an opening that nobody waited for, has not returned.
    case stillInUse
    /// Its driver takes longer than anybody waits.
    case notOpened

    /// Drivers wait for their devices.
    static let closingTimeout = Duration.seconds(3)
    /// Longer than a V4L2 driver is waited for: libcamera's cameras have more to do.
    static let openingTimeout = Duration.seconds(10)
}

extension CameraThreadError: CustomStringConvertible {
    var description: String {
        switch self {
        case .stillInUse: "its driver has not let go of it for \(Self.closingTimeout)"
        case .notOpened: "it has not opened in \(Self.openingTimeout)"
        }
    }
}
