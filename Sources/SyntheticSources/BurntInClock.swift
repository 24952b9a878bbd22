import DevicePorts
import Media

/// Frame number and time as a strip of black and white blocks along a frame's bottom edge. It survives scaling and strong
/// compression: a block is read at its center, and a checksum reveals damage.
///
/// There are 3 rows of 40 blocks, filled from the top left: 8 of sync, 32 of frame number, 40 of milliseconds, 16 of checksum,
/// 24 unused. White is one; the highest bit comes first.
public enum BurntInClock {
    static let columns = 40
    static let rows = 3
    private static let sync: UInt64 = 0b1010_0110

    /// The contents of a strip.
    public struct Reading: Hashable, Sendable {
        public let frameNumber: UInt32
        /// On the drawing machine's CLOCK_MONOTONIC, in whole milliseconds.
        public let time: MediaTimestamp
    }

    /// The strip's height for a frame size; its blocks are square.
    static func height(in size: FrameSize) -> Int { rows * blockHeight(in: size) }

    private static func blockHeight(in size: FrameSize) -> Int { max(2, min(size.width / columns, size.height / 12)) }

    /// Draws into the luma plane. Chroma should be neutral there. Frames too small for a strip get none.
    static func draw(
        frameNumber: UInt32, time: MediaTimestamp, luma: UnsafeMutableRawBufferPointer, stride: Int, size: FrameSize
    ) {
        let bits = Self.bits(frameNumber, UInt64(max(0, time.nanoseconds / 1_000_000)))
        let blockHeight = blockHeight(in: size)
        let top = size.height - rows * blockHeight
        guard top >= 0 else { return }
        for row in 0..<rows {
            let first = (top + row * blockHeight) * stride
            for column in 0..<columns {
                let start = first + column * size.width / columns
                let end = first + (column + 1) * size.width / columns
                luma[start..<end].initializeAll(to: bits[row * columns + column] ? 235 : 16)
            }
            let line = UnsafeRawBufferPointer(rebasing: luma[first..<first + size.width])
            for below in 1..<blockHeight {
                let start = first + below * stride
                UnsafeMutableRawBufferPointer(rebasing: luma[start..<start + size.width]).copyMemory(from: line)
            }
        }
    }

    /// Reads a strip.
    /// - Parameters:
    ///   - luma: at least `stride` x height bytes.
    ///   - size: the frame's size; the frame may have been scaled.
    /// - Returns: `nil` if there is no strip or it is damaged.
    public static func read(luma: UnsafeRawBufferPointer, stride: Int, size: FrameSize) -> Reading? {
        let blockHeight = blockHeight(in: size)
        let top = size.height - rows * blockHeight
        guard size.width >= 2 * columns, top >= 0, stride >= size.width, luma.count >= stride * size.height else {
            return nil
        }
        var bits: [Bool] = []
        for row in 0..<rows {
            for column in 0..<columns {
                let x = (2 * column + 1) * size.width / (2 * columns)
                let y = top + row * blockHeight + blockHeight / 2
                bits.append(luma[y * stride + x] >= 128)
            }
        }
        let frameNumber = number(bits[8..<40])
        let milliseconds = number(bits[40..<80])
        guard number(bits[0..<8]) == sync, number(bits[80..<96]) == checksum(frameNumber, milliseconds) else {
            return nil
        }
        return Reading(
            frameNumber: UInt32(frameNumber), time: MediaTimestamp(milliseconds: Int64(milliseconds)))
    }

    private static func bits(_ frameNumber: UInt32, _ milliseconds: UInt64) -> [Bool] {
        let time = milliseconds & 0xFF_FFFF_FFFF
        func bits(of value: UInt64, _ count: Int) -> [Bool] { (0..<count).reversed().map { value >> $0 & 1 == 1 } }
        return bits(of: sync, 8) + bits(of: UInt64(frameNumber), 32) + bits(of: time, 40)
            + bits(of: checksum(UInt64(frameNumber), time), 16) + bits(of: 0, 24)
    }

    private static func number(_ bits: ArraySlice<Bool>) -> UInt64 { bits.reduce(0) { $0 << 1 | ($1 ? 1 : 0) } }

    /// CRC-16/CCITT-FALSE over the nine bytes of number and time.
    private static func checksum(_ frameNumber: UInt64, _ milliseconds: UInt64) -> UInt64 {
        var remainder: UInt16 = 0xFFFF
        for (value, count) in [(frameNumber, 4), (milliseconds, 5)] {
            for index in (0..<count).reversed() {
                let byte = UInt8(truncatingIfNeeded: value >> (8 * index))
                remainder ^= UInt16(byte) << 8
                for _ in 0..<8 { remainder = remainder & 0x8000 != 0 ? remainder << 1 ^ 0x1021 : remainder << 1 }
            }
        }
        return UInt64(remainder)
    }
}

extension Slice<UnsafeMutableRawBufferPointer> {
    func initializeAll(to value: UInt8) {
        UnsafeMutableRawBufferPointer(rebasing: self).initializeMemory(as: UInt8.self, repeating: value)
    }
}
