import FuzzDriver
import RTMP

@main enum FuzzAMF0 {
    static func main() { fuzz(testOneInput) }
}

/// Consecutive AMF0 values, as in a message's payload.
private func testOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = [UInt8](UnsafeRawBufferPointer(start: data, count: count))
    decode(bytes)
    for type in [MessageType.commandAMF0, .commandAMF3] {
        if let command = try? Command(Message(type: type, payload: bytes)) { encodeAgain(command) }
    }
    return 0
}

/// Values that were read and written are read and written identically again.
///
/// The first reading repairs text and ignores wrong counts, so only the second one must be exact.
private func decode(_ bytes: [UInt8]) {
    var decoder = AMF0Decoder(bytes)
    var written: [UInt8] = []
    var valueCount = 0
    while !decoder.isAtEnd {
        let before = decoder.position
        guard let value = try? decoder.decodeValue() else { break }
        precondition(decoder.position > before, "a value was made of nothing")
        written.appendAMF0(value)
        valueCount += 1
    }
    precondition(decoder.position <= bytes.count)
    var second = AMF0Decoder(written)
    var writtenAgain: [UInt8] = []
    for _ in 0..<valueCount {
        guard let value = try? second.decodeValue() else { preconditionFailure("what was written cannot be read") }
        writtenAgain.appendAMF0(value)
    }
    precondition(second.isAtEnd && writtenAgain == written, "what was written is read differently")
}

private func encodeAgain(_ command: Command) {
    let message = command.message(streamID: 1)
    guard let again = try? Command(message) else { preconditionFailure("the command cannot be read back") }
    precondition(again.name == command.name && again.arguments.count == command.arguments.count)
    precondition(again.message(streamID: 1) == message, "the command changed on its way")
}
