/// Probe and commit data (UVC 1.5, section 4.3.1.1): the agreement so far. 26 bytes in UVC 1.0, 34 in 1.1.
struct StreamingParameters: Hashable {
    static let byteCount = 34
    static let smallestByteCount = 26

    var hint: UInt16 = 1
    var formatIndex: UInt8 = 1
    var frameIndex: UInt8 = 1
    var frameInterval: UInt32 = 0
    var largestFrame: UInt32 = 0
    var largestTransfer: UInt32 = 0

    init() {}

    init(_ bytes: [UInt8]) {
        var reader = LittleEndianReader(bytes)
        hint = reader.next(UInt16.self)
        formatIndex = reader.next(UInt8.self)
        frameIndex = reader.next(UInt8.self)
        frameInterval = reader.next(UInt32.self)
        // The camera decides keyframes, quality, window, delay and the sizes.
    }

    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(littleEndian: hint)
        bytes += [formatIndex, frameIndex]
        bytes.append(littleEndian: frameInterval)
        bytes += [UInt8](repeating: 0, count: 8)
        // wDelay in milliseconds: a frame takes about one frame interval.
        bytes.append(littleEndian: UInt16(33))
        bytes.append(littleEndian: largestFrame)
        bytes.append(littleEndian: largestTransfer)
        // dwClockFrequency of the packets' timestamps, as in the header descriptor of the kernel's function.
        bytes.append(littleEndian: UInt32(48_000_000))
        // bmFramingInfo: each payload identifies its frame and marks the end of a frame.
        bytes += [3, 0, 0, 0]
        return bytes
    }
}
