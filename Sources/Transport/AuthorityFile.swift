import LinuxIO

extension TLSContext {
    /// Why no connection could be made with the certificates in a file, for people; `nil` when one could.
    public static func problem(withAuthorityFile path: String) -> String? {
        // Reading a pipe would hold up the caller for as long as nobody writes to it.
        guard isRegularFile(path) != false else { return "\(path) is not a regular file" }
        do {
            _ = try TLSContext.shared(authorityFile: path)
            return nil
        } catch {
            return "\(error)"
        }
    }
}
