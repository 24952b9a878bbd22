/// Something that happened, for people (`text`) and for scripts (the rest).
public struct Event: Sendable {
    public enum Value: Sendable {
        case integer(Int)
        case number(Double)
        case text(String)
        case flag(Bool)
    }

    /// The number in docs/events.md; 0 when the event has none.
    public let code: Int
    /// A code's name is looked up when somebody asks for it: it comes by reflection, which is slow at first.
    public var name: String { ownName ?? EventCode(rawValue: code)?.name ?? "" }
    private let ownName: String?
    /// `nil` for what people need no line of.
    public let text: String?
    public let fields: [(name: String, value: Value)]

    public init(_ name: String, code: Int = 0, text: String?, _ fields: KeyValuePairs<String, Value> = [:]) {
        self.init(name, code: code, text: text, fields: fields.map { ($0.key, $0.value) })
    }

    /// - Parameter name: `nil` for the name that belongs to the code.
    public init(_ name: String?, code: Int, text: String?, fields: [(name: String, value: Value)]) {
        self.code = code
        ownName = name
        self.text = text
        self.fields = fields
    }

    /// The end of the program by a fault. People read of it in the program's last line.
    public static func failed(code: Int, message: String) -> Event {
        Event("failed", code: code, text: nil, ["message": .text(message)])
    }
}
