/// The numbers that sign one connection each; every one is larger than all before it, also after a
/// restart on a board whose clock then stands in 1970.
///
/// One sequence serves all streams, since larger than the last of all is also larger than the last
/// of each. The numbers are the clock's seconds where the clock has moved on, else the last plus one.
///
/// What is kept on disk is not the last number but a ceiling some way above it, so that a board
/// that retries all day without a network does not write its card at every attempt. A restart
/// goes on above the ceiling. Save `unsavedText` before the number is used.
///
/// Several processes share what is on disk by turns: each keeps the others out while it reads (`read`), takes a number
/// and saves.
public struct NonceSequence: Sendable {
    /// Numbers that one write covers.
    private static let reservation: Int64 = 60
    /// The latest that a clock is believed: enough for any.
    private static let latestClock: Int64 = 1 << 53
    /// What a saved text may say: numbers go on behind the latest clock. Far from there, and from overflow.
    private static let largestRecord: Int64 = 1 << 62

    private var last: Int64
    private var ceiling: Int64
    /// What must be on disk before the last number given is used; `nil` when the disk has it.
    public private(set) var unsavedText: String?

    /// - Parameters:
    ///   - savedText: what was last saved, `nil` when there is none. A torn or foreign text counts as none.
    ///   - floor: UNIX seconds that have certainly passed, such as the stream file's time of change;
    ///     it helps where both the saved text and the clock are lost.
    public init(savedText: [UInt8]?, floor: Int64 = 0) {
        let saved = savedText.flatMap(Self.highestRecord) ?? 0
        last = max(saved, min(max(floor, 0), Self.latestClock))
        ceiling = saved
    }

    /// What is on disk now. Another process may have reserved numbers there: they, and all before them, are used.
    public mutating func read(savedText: [UInt8]?) {
        let saved = savedText.flatMap(Self.highestRecord) ?? 0
        guard saved != ceiling else { return }
        last = max(last, saved)
        // Where the disk has lost it, the next number is written anew.
        ceiling = saved
    }

    /// - Parameter unixSeconds: what the clock says, whether it is right or not.
    public mutating func next(unixSeconds: Int64) -> Int64 {
        last = max(min(unixSeconds, Self.latestClock), last &+ 1)
        if last > ceiling {
            ceiling = last &+ Self.reservation
            unsavedText = Self.text(for: ceiling)
        }
        return last
    }

    /// The text is on disk, whole.
    public mutating func saved() { unsavedText = nil }

    /// Two equal records, so that one is whole when a write was cut off or any one byte went bad.
    private static func text(for ceiling: Int64) -> String {
        let record = "nonce \(ceiling)"
        let line = "\(record) \(checksum(of: record))\n"
        return line + "\n" + line
    }

    private static func highestRecord(in text: [UInt8]) -> Int64? {
        text.split(separator: 0x0A).compactMap { line -> Int64? in
            let words = String(decoding: line, as: UTF8.self).split(separator: " ")
            guard words.count == 3, words[0] == "nonce", let number = Int64(words[1]),
                (0...largestRecord).contains(number), checksum(of: "nonce \(number)") == words[2]
            else { return nil }
            return number
        }.max()
    }

    /// CRC-32 (ISO 3309) as eight hexadecimal digits.
    private static func checksum(of record: String) -> String {
        var register: UInt32 = 0xFFFF_FFFF
        for byte in record.utf8 {
            register ^= UInt32(byte)
            for _ in 0..<8 { register = register & 1 == 1 ? register >> 1 ^ 0xEDB8_8320 : register >> 1 }
        }
        let digits = String(~register, radix: 16)
        return String(repeating: "0", count: 8 - digits.utf8.count) + digits
    }
}
