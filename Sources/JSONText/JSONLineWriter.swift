import CRapidJSON

/// Writes one JSON object or array per line. Names and texts are escaped as RFC 8259 requires, so a line never breaks.
public struct JSONLineWriter: ~Copyable {
    private let handle: OpaquePointer?

    public init() { handle = crapidjson_writer_create() }

    deinit {
        if let handle { crapidjson_writer_destroy(handle) }
    }

    /// Writes an object with the members written by `body`.
    /// - Returns: the line with its LF; empty only if memory is exhausted.
    public mutating func line(_ body: (borrowing JSONObjectWriter) -> Void) -> [UInt8] { line(of: { $0.object(body) }) }

    /// Like `line`, for an array with the elements written by `body`.
    public mutating func arrayLine(_ body: (borrowing JSONArrayWriter) -> Void) -> [UInt8] {
        line(of: { $0.array(body) })
    }

    private mutating func line(of write: (JSONSink) -> Void) -> [UInt8] {
        guard let handle else { return [] }
        crapidjson_writer_reset(handle)
        write(JSONSink(handle: handle))
        let text = UnsafeRawBufferPointer(
            start: crapidjson_writer_text(handle), count: Int(crapidjson_writer_length(handle)))
        return [UInt8](text) + [0x0A]
    }
}

/// Writes the members of an object. Valid only within the call that provides it.
public struct JSONObjectWriter: ~Copyable {
    fileprivate let sink: JSONSink

    public func write(_ name: String, _ value: String) { sink.key(name).string(value) }

    /// Text from outside: invalid UTF-8 becomes U+FFFD.
    public func write(_ name: String, utf8 bytes: some Collection<UInt8>) {
        sink.key(name).string(String(decoding: bytes, as: UTF8.self))
    }

    /// Limited to the range of Int64.
    public func write(_ name: String, _ value: some BinaryInteger) { sink.key(name).integer(Int64(clamping: value)) }

    /// Infinities and NaN, which JSON lacks, become null.
    public func write(_ name: String, _ value: Double) { sink.key(name).double(value) }
    public func write(_ name: String, _ value: Bool) { sink.key(name).bool(value) }
    public func writeNull(_ name: String) { sink.key(name).null() }
    /// An array; `nil` elements become null.
    public func write(_ name: String, _ values: [Double?]) {
        writeArray(name) { array in
            for value in values { if let value { array.write(value) } else { array.writeNull() } }
        }
    }
    public func write(_ name: String, _ values: [String]) {
        writeArray(name) { array in
            for value in values { array.write(value) }
        }
    }
    public func writeObject(_ name: String, _ body: (borrowing JSONObjectWriter) -> Void) {
        sink.key(name).object(body)
    }
    public func writeArray(_ name: String, _ body: (borrowing JSONArrayWriter) -> Void) { sink.key(name).array(body) }
}

/// Writes the elements of an array. Valid only within the call that provides it.
public struct JSONArrayWriter: ~Copyable {
    fileprivate let sink: JSONSink

    public func write(_ value: String) { sink.string(value) }
    /// Limited to the range of Int64.
    public func write(_ value: some BinaryInteger) { sink.integer(Int64(clamping: value)) }
    /// Infinities and NaN, which JSON lacks, become null.
    public func write(_ value: Double) { sink.double(value) }
    public func write(_ value: Bool) { sink.bool(value) }
    public func writeNull() { sink.null() }
    public func writeObject(_ body: (borrowing JSONObjectWriter) -> Void) { sink.object(body) }
    public func writeArray(_ body: (borrowing JSONArrayWriter) -> Void) { sink.array(body) }
}

/// Passes one value to the library's writer.
private struct JSONSink {
    let handle: OpaquePointer

    func key(_ name: String) -> JSONSink {
        withCharacters(of: name) { crapidjson_write_key(handle, $0, $1) }
        return self
    }

    func string(_ text: String) { withCharacters(of: text) { crapidjson_write_string(handle, $0, $1) } }
    func integer(_ value: Int64) { crapidjson_write_integer(handle, value) }
    func double(_ value: Double) { value.isFinite ? crapidjson_write_double(handle, value) : null() }
    func bool(_ value: Bool) { crapidjson_write_bool(handle, value) }
    func null() { crapidjson_write_null(handle) }

    func object(_ body: (borrowing JSONObjectWriter) -> Void) {
        crapidjson_write_start_object(handle)
        body(JSONObjectWriter(sink: self))
        crapidjson_write_end_object(handle)
    }

    func array(_ body: (borrowing JSONArrayWriter) -> Void) {
        crapidjson_write_start_array(handle)
        body(JSONArrayWriter(sink: self))
        crapidjson_write_end_array(handle)
    }

    private func withCharacters(of text: String, _ body: (UnsafePointer<CChar>, Int) -> Void) {
        let count = text.utf8.count
        text.withCString { body($0, count) }
    }
}
