import LinuxIO

/// Why a source cannot be opened or cannot continue.
public enum SourceError: Error, Hashable, Sendable {
    /// The source's description on the command line is invalid; the text says how.
    case badDescription(String, problem: String)
    case cannotRead(path: String, SystemCallError)
    /// The file has not even one whole frame or sample.
    case tooShort(path: String, byteCount: Int, needed: Int)
    case systemFailed(SystemCallError)
}

extension SourceError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .badDescription(let text, let problem): "the source \"\(text)\" is wrong: \(problem)"
        case .cannotRead(let path, let error): "\(path) cannot be read: \(error.reason)"
        case .tooShort(let path, let byteCount, let needed):
            "\(path) ended after \(byteCount) bytes, and one frame or sample has \(needed); check size and format"
        case .systemFailed(let error): "\(error)"
        }
    }
}
