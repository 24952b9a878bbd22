import Media
import Testing

@testable import AudioCapture

/// The fill of a card that is clocked by a computer.
@Suite struct PlaybackBalanceTests {
    /// Plays ten minutes of blocks through a card that runs faster than the camera's clock by this many parts per million, with
    /// jittery readings of its fill.
    /// - Parameter length: of a block, in milliseconds.
    /// - Returns: its fill in milliseconds, after one block of each second.
    private static func fills(drift: Double, start: Double, length: Double = 20) -> [Double] {
        let wanted = PlaybackBalance.wantedFill(ofBlocks: .nanoseconds(Int64(length * 1e6)))
        var balance = PlaybackBalance()
        var (fill, correction) = (start, 0.0)
        var fills: [Double] = []
        for block in 0..<Int(600_000 / length) {
            fill += length - length * (1 + (drift + correction) / 1e6)
            let seen = fill + Double(block * 7 % 10)
            let now = MediaTimestamp.zero + .nanoseconds(Int64(length * 1e6) * Int64(block))
            let new = balance.written(fill: .nanoseconds(Int64(max(0, seen) * 1e6)), wanted: wanted, now: now)
            if let new {
                #expect(abs(new) <= 1000)
                correction = new
            }
            if block % Int(1000 / length) == 0 { fills.append(fill) }
        }
        return fills
    }

    @Test(arguments: [-100.0, 0, 100]) func clockDriftChangesTheFillByMilliseconds(drift: Double) {
        for start in [0.0, 60, 170] {
            let fills = Self.fills(drift: drift, start: start)
            // Settled after five minutes at most, then stable.
            let settled = fills.dropFirst(300)
            #expect(settled.allSatisfy { abs($0 - 55) < 12 }, "\(settled.min() ?? 0) to \(settled.max() ?? 0)")
        }
    }

    /// 1024 frames at 48, 22.05 and 11.025 kHz. The remaining fill must last until the next block, even if that is late.
    @Test(arguments: [21.3, 46.4, 92.9]) func blocksOfAnyLengthLeaveAReserve(length: Double) {
        let settled = Self.fills(drift: 50, start: 60, length: length).dropFirst(300)
        #expect(settled.allSatisfy { $0 - length > 20 }, "\((settled.min() ?? 0) - length) before a block")
    }
}
