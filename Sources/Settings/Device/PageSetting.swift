/// Whether the device serves its page, and how.
public enum PageSetting: String, Sendable {
    /// Nothing listens.
    case off
    case http
    /// With a certificate that the device has made.
    case https
}
