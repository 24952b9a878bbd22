import CLinux
import Glibc
import Synchronization

/// One option of a command.
public struct CommandLineOption: Sendable {
    /// Without the dashes: `url` for `--url`.
    public let name: String
    /// Without the dash: `u` for `-u`. An ASCII letter.
    public let shortName: Character?
    /// The option's value as help shows it (`URL`); `nil` for an option without a value.
    public let valuePlaceholder: String?
    /// Whether repeating the option is an error, because a second one would contradict the first.
    public let isSingle: Bool
    private let makeHelp: @Sendable () -> String

    /// Whether the value is the path of a file or folder, judging by its placeholder.
    public var takesPath: Bool { ["FILE", "DIRECTORY"].contains { valuePlaceholder?.hasPrefix($0) == true } }
    /// May have several lines.
    public var help: String { makeHelp() }

    /// - Parameter help: built only when it is needed.
    public init(
        _ name: String, short shortName: Character? = nil, takes valuePlaceholder: String? = nil,
        isSingle: Bool = false, help: @autoclosure @escaping @Sendable () -> String
    ) {
        self.name = name
        self.shortName = shortName
        self.valuePlaceholder = valuePlaceholder
        self.isSingle = isSingle
        makeHelp = help
    }
}

/// A command line that does not fit the options.
public enum CommandLineError: Error, Hashable, Sendable, CustomStringConvertible {
    /// As typed, with its dashes. An abbreviation that fits several options is unknown too.
    case unknownOption(String)
    case missingValue(option: String, placeholder: String)
    case unexpectedValue(option: String)
    case repeated(option: String)

    public var description: String {
        switch self {
        case .unknownOption(let option): "unknown option \(option)"
        case .missingValue(let option, let placeholder): "\(option) needs a value: \(option) \(placeholder)"
        case .unexpectedValue(let option): "\(option) takes no value"
        case .repeated(let option): "\(option) is given more than once"
        }
    }
}

/// A parsed command line.
public struct CommandLineArguments: Sendable {
    fileprivate var events: [(name: String, value: String?)] = []
    /// The words that are neither options nor their values, in order.
    public fileprivate(set) var operands: [String] = []

    /// - Parameter name: the long name, whichever form was typed.
    public func contains(_ name: String) -> Bool { events.contains { $0.name == name } }
    /// The option's value; the last one if the option was repeated.
    public subscript(_ name: String) -> String? { events.last { $0.name == name }?.value }
    /// All values of a repeatable option, in order.
    public func values(of name: String) -> [String] {
        events.compactMap { $0.name == name ? $0.value : nil }
    }
}

/// The options of a command, read by glibc's getopt_long: `--name value`, `--name=value`, unambiguous abbreviations, `-x
/// value`, `-xvalue`, options and operands in any order, `--` before operands that start with a dash. A negative number is not
/// an option.
public struct CommandLineOptions: Sendable {
    public let options: [CommandLineOption]

    public init(_ options: [CommandLineOption]) { self.options = options }

    /// - Parameter arguments: without the names of the program and the command.
    public func parse(_ arguments: [String]) throws(CommandLineError) -> CommandLineArguments {
        switch getoptLock.withLock({ _ in Result { () throws(CommandLineError) in try parseAlone(arguments) } }) {
        case .success(let parsed): return parsed
        case .failure(let error): throw error
        }
    }

    /// The options as a table for people, one or more lines each.
    public var helpText: String {
        let column = 28
        var text = ""
        for option in options {
            var usage = option.shortName.map { "  -\($0), --" } ?? "      --"
            usage += option.name + (option.valuePlaceholder.map { " \($0)" } ?? "")
            let lines = option.help.split(separator: "\n", omittingEmptySubsequences: false)
            if usage.count + 2 > column {
                text += usage + "\n"
                usage = ""
            }
            for line in lines {
                text += usage + String(repeating: " ", count: column - usage.count) + line + "\n"
                usage = ""
            }
        }
        return text
    }
}

// getopt_long reports through global variables, so only one parse may run at a time.
private let getoptLock = Mutex(())

extension CommandLineOptions {
    /// What getopt_long returns for the first long option; short ones return their character.
    private static let firstLongValue: Int32 = 256

    /// Goes in front of negative numbers, which getopt_long would take for options.
    private static let mark = "\u{1}"

    private static func marked(_ argument: String) -> String {
        let bytes = argument.utf8.prefix(3)
        let digit = bytes.dropFirst().first { $0 != UInt8(ascii: ".") } ?? 0
        let isNumber = bytes.first == UInt8(ascii: "-") && (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit)
        return isNumber ? mark + argument : argument
    }

    private static func unmarked(_ argument: String) -> String {
        argument.hasPrefix("\(mark)-") ? String(argument.dropFirst()) : argument
    }

    private func parseAlone(_ arguments: [String]) throws(CommandLineError) -> CommandLineArguments {
        let strings = CStringArray(["tallycam"] + arguments.map(Self.marked))
        let names = CStringArray(options.map(\.name))
        // The leading colon makes getopt_long print nothing and tell a missing value from an unknown option.
        let shortOptions = options.reduce(":") { text, option in
            text + (option.shortName.map { "\($0)\(option.valuePlaceholder == nil ? "" : ":")" } ?? "")
        }
        var table: [option] = []
        for (index, declared) in options.enumerated() {
            let takesValue = declared.valuePlaceholder == nil ? no_argument : required_argument
            table.append(
                option(
                    name: names.pointers[index], has_arg: takesValue, flag: nil,
                    val: Self.firstLongValue + Int32(index)))
        }
        table.append(option())

        var parsed = CommandLineArguments()
        clinux_getopt_restart()
        while true {
            let step = clinux_getopt_long(Int32(strings.count), &strings.pointers, shortOptions, table)
            if step.value == -1 {
                // getopt_long has moved the operands behind the options.
                parsed.operands = strings.strings(from: Int(step.next)).map(Self.unmarked)
                return parsed
            }
            let declared = try declaredOption(step, typed: strings[Int(step.next) - 1] ?? "")
            if declared.isSingle, parsed.contains(declared.name) { throw .repeated(option: "--\(declared.name)") }
            parsed.events.append((declared.name, step.argument.map { Self.unmarked(String(cString: $0)) }))
        }
    }

    /// The option that getopt_long found.
    private func declaredOption(
        _ step: clinux_getopt_step, typed: String
    ) throws(CommandLineError) -> CommandLineOption {
        if step.value == Int32(UInt8(ascii: ":")), let found = declaredOption(for: step.option) {
            throw .missingValue(option: "--\(found.name)", placeholder: found.valuePlaceholder ?? "")
        }
        if step.value == Int32(UInt8(ascii: "?")) {
            if step.option >= Self.firstLongValue, let found = declaredOption(for: step.option) {
                throw .unexpectedValue(option: "--\(found.name)")
            }
            throw .unknownOption(
                step.option > 0 && step.option < 128 ? "-\(Character(UnicodeScalar(UInt8(step.option))))" : typed)
        }
        guard let found = declaredOption(for: step.value) else { throw .unknownOption(typed) }
        return found
    }

    private func declaredOption(for value: Int32) -> CommandLineOption? {
        let index = Int(value) - Int(Self.firstLongValue)
        if options.indices.contains(index) { return options[index] }
        return options.first { $0.shortName?.asciiValue.map(Int32.init) == value }
    }
}

/// C strings that live as long as this object.
private final class CStringArray {
    var pointers: [UnsafeMutablePointer<CChar>?]
    let count: Int
    private let owned: [UnsafeMutablePointer<CChar>?]

    init(_ strings: [String]) {
        owned = strings.map { strdup($0) }
        count = strings.count
        pointers = owned + [nil]
    }

    deinit { owned.forEach { free($0) } }

    subscript(index: Int) -> String? {
        guard pointers.indices.contains(index) else { return nil }
        return pointers[index].map { String(cString: $0) }
    }

    func strings(from first: Int) -> [String] {
        (first..<max(first, count)).compactMap { self[$0] }
    }
}
