import CLinux
import Glibc

/// A failed system call: which one, why, and on what.
public struct SystemCallError: Error, Hashable, Sendable {
    /// The call's name as in its manual page, for example `open`.
    public let call: String
    /// The error number, for example `ENOENT`.
    public let number: Int32
    /// The path, device, address or setting that the call was about.
    public let subject: String?

    public init(_ call: String, number: Int32, subject: String? = nil) {
        self.call = call
        self.number = number
        self.subject = subject
    }

    /// Takes the reason from `errno`, so create it right after the failed call.
    public init(_ call: String, subject: String? = nil) {
        self.init(call, number: errno, subject: subject)
    }

    /// The reason in words, for example `No such file or directory`.
    public var reason: String { Self.reason(of: number) }

    /// An error number in words.
    public static func reason(of number: Int32) -> String {
        guard let text = clinux_error_text(number) else { return "error \(number)" }
        return String(cString: text)
    }
}

extension SystemCallError: CustomStringConvertible {
    public var description: String {
        let name = clinux_error_name(number).map { String(cString: $0) } ?? "errno \(number)"
        let target = subject.map { " \($0)" } ?? ""
        return "\(call)\(target): \(reason) (\(name))"
    }
}
