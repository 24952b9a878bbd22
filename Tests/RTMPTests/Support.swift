import Media

@testable import RTMP

func bytes(_ hex: String) -> [UInt8] {
    var result: [UInt8] = []
    var high: UInt8?
    for character in hex where !character.isWhitespace {
        guard let digit = character.hexDigitValue.map(UInt8.init) else { continue }
        if let first = high {
            result.append(first << 4 | digit)
            high = nil
        } else {
            high = digit
        }
    }
    return result
}

/// Bytes as written in tests: hexadecimal text, or an array or slice.
protocol WirePart { var wireBytes: [UInt8] { get } }
extension String: WirePart { var wireBytes: [UInt8] { bytes(self) } }
extension [UInt8]: WirePart { var wireBytes: [UInt8] { self } }
extension ArraySlice<UInt8>: WirePart { var wireBytes: [UInt8] { Array(self) } }

func wire(_ parts: any WirePart...) -> [UInt8] { parts.flatMap { $0.wireBytes } }

extension ChunkReader {
    /// All messages in `bytes`, passed in portions of `portion` bytes.
    mutating func messages(in bytes: [UInt8], portion: Int = .max) throws(ChunkError) -> [Message] {
        var messages: [Message] = []
        var position = 0
        while position < bytes.count {
            let end = position + min(portion, bytes.count - position)
            let part = Array(bytes[position..<end])
            position = end
            var offset = 0
            var isDone = false
            while !isDone {
                let outcome = part.withUnsafeBytes { input in
                    Result { () throws(ChunkError) in try nextMessage(in: input, from: &offset) }
                }
                if let message = try outcome.get() { messages.append(message) } else { isDone = true }
            }
        }
        return messages
    }
}

extension ChunkedMediaMessage {
    /// The bytes from `offset` on, over as many calls as needed.
    func wireBytes(from offset: Int = 0) -> [UInt8] {
        var result: [UInt8] = []
        while offset + result.count < byteCount {
            let before = result.count
            withSlices(from: offset + before) { slices in
                for slice in slices { result += slice }
            }
            guard result.count > before else { break }
        }
        return result
    }
}

extension PublishSession {
    mutating func bytesReceived(_ bytes: [UInt8], now: MediaTimestamp = .zero) -> [Action] {
        bytes.withUnsafeBytes { bytesReceived($0, now: now) }
    }
}

extension ReceiveSession {
    mutating func bytesReceived(_ bytes: [UInt8]) -> [Action] {
        bytes.withUnsafeBytes { bytesReceived($0) }
    }
}

extension [PublishSession.Action] {
    var sentBytes: [UInt8] { flatMap { action -> [UInt8] in if case .send(let bytes) = action { bytes } else { [] } } }
    var withoutSends: Self { filter { if case .send = $0 { false } else { true } } }
}

extension [ReceiveSession.Action] {
    var sentBytes: [UInt8] { flatMap { action -> [UInt8] in if case .send(let bytes) = action { bytes } else { [] } } }
    var withoutSends: Self { filter { if case .send = $0 { false } else { true } } }
}
