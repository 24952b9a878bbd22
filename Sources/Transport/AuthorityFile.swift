import LinuxIO

extension TLSContext {
    /// Why the certificates in a file cannot be used, as text for people; `nil` if they can.
    public static func problem(withAuthorityFile path: String) -> String? {
        // Opening a pipe would block the caller until a writer appears.
        guard isRegularFile(path) != false else { return "\(path) is not a regular file" }
        do {
            _ = try TLSContext.shared(authorityFile: path)
            return nil
        } catch {
            return "\(error)"
        }
    }
}
