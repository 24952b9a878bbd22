import RTMP

/// Chunks as other publishers write them: with every kind of header (RTMP 1.0 section 5.3.1).
enum Chunks {
    static func bytes(_ message: Message, on chunkStreamID: UInt8) -> [UInt8] {
        var bytes: [UInt8] = []
        ChunkWriter().append(message, chunkStreamID: chunkStreamID, to: &bytes)
        return bytes
    }

    private static let audio: [UInt8] = [0xAF, 1, 0x21, 0x10]
    private static let frame: [UInt8] = [0x17, 1, 0, 0, 0] + Array(repeating: 3, count: 200)

    /// Types 0, 1, 2 and 3 in turn, and a message of two chunks.
    static let media: [UInt8] = joined([
        [0x04, 0, 0, 10, 0, 0, 4, 8, 1, 0, 0, 0], audio,
        [0x44, 0, 0, 23, 0, 0, 5, 8], audio, [0],
        [0x84, 0, 0, 24], audio, [1],
        [0xC4], audio, [2],
        bytes(Message(type: .video, timestamp: 99, streamID: 1, payload: frame), on: 6),
    ])

    /// Includes a sender that does not repeat the timestamp before a message's second chunk.
    static let extendedTimestamps: [UInt8] = joined([
        bytes(Message(type: .video, timestamp: 0xFFFF_FFF0, streamID: 1, payload: frame), on: 6),
        [0x46, 0xFF, 0xFF, 0xFF, 0, 0, 4, 9, 1, 0, 0, 1, 0x27, 1, 0, 0],
        [0x06, 0xFF, 0xFF, 0xFF, 0, 0, 130, 9, 1, 0, 0, 0, 1, 0, 0, 0], Array(repeating: 0x27, count: 128),
        [0xC6, 1, 0],
    ])

    /// A video message in two chunks with audio between them, and one that is aborted.
    static let interleaved: [UInt8] = {
        let video = bytes(Message(type: .video, timestamp: 40, streamID: 1, payload: frame), on: 6)
        let message = bytes(Message(type: .audio, timestamp: 41, streamID: 1, payload: audio), on: 4)
        let abort = bytes(ControlMessage.abort(chunkStreamID: 6).message, on: 2)
        let (first, second) = (Array(video[..<140]), Array(video[140...]))
        return joined([first, message, second, first, abort, video])
    }()

    static let aggregate: [UInt8] = {
        let parts = joined([
            [8, 0, 0, 4, 0, 0, 5, 0, 0, 0, 0], audio, [0, 0, 0, 15],
            [9, 0, 0, 5, 0, 0, 9, 0, 0, 0, 0], [0x27, 1, 0, 0, 0], [0, 0, 0, 16],
            [18, 0, 0, 4, 0, 0, 9, 0, 0, 0, 0], [2, 0, 1, 0x61], [0, 0, 0, 15],
        ])
        return bytes(Message(type: .aggregate, timestamp: 1000, streamID: 1, payload: parts), on: 6)
    }()

    static let data: [UInt8] = {
        var metadata: [UInt8] = []
        for value in [.string("onMetaData"), AMF0Seeds.metadata] { metadata.appendAMF0(value) }
        var dataFrame: [UInt8] = []
        dataFrame.appendAMF0(.string("@setDataFrame"))
        let connect = AMF0Seeds.connect.message().payload
        return joined([
            bytes(Message(type: .dataAMF0, streamID: 1, payload: dataFrame + metadata), on: 5),
            bytes(Message(type: .dataAMF3, streamID: 1, payload: [0] + metadata), on: 5),
            bytes(Message(type: .commandAMF3, streamID: 1, payload: [0] + connect), on: 3),
        ])
    }()

    /// Chunk streams 64 and above, in the forms of two and of three bytes.
    static let longStreamNumbers: [UInt8] = joined([
        [0x00, 6, 0, 0, 10, 0, 0, 4, 8, 1, 0, 0, 0], audio, [0x01, 6, 1, 0, 0, 10, 0, 0, 4, 8, 1, 0, 0, 0], audio,
        [0xC0, 6], audio, [0xC1, 6, 1], audio,
    ])

    private static func joined(_ parts: [[UInt8]]) -> [UInt8] { parts.flatMap { $0 } }
}
