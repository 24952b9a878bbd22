/// The nonces that sign one connection each. Every nonce is larger than all previous ones, even after a restart on a
/// board whose clock then shows 1970.
///
/// One sequence serves all streams: a nonce larger than the last of all is also larger than the last of each. A nonce
/// is the clock's seconds if the clock has advanced, otherwise the last nonce plus one.
///
/// The disk holds not the last nonce but a ceiling some way above it, so that a board that retries all day without a
/// network does not write its card at every attempt. After a restart, nonces continue above the ceiling. Save
/// `unsavedText` before using the nonce.
///
/// Several processes can share the file: each locks it while it reads (`read`), takes a nonce and saves.
public struct NonceSequence: Sendable {
    /// Nonces covered by one write.
    private static let reservation: Int64 = 60
    /// The latest plausible clock, high enough for any real one.
    private static let latestClock: Int64 = 1 << 53
    /// The largest nonce accepted from the file: well above the latest clock, and well below overflow.
    private static let largestRecord: Int64 = 1 << 62

    private var last: Int64
    private var ceiling: Int64
    /// Must be on disk before the last nonce is used; `nil` if the disk is up to date.
    public private(set) var unsavedText: String?

    /// - Parameters:
    ///   - savedText: the text saved last, `nil` if there is none. A damaged or foreign text is ignored.
    ///   - floor: UNIX seconds that have certainly passed, such as the stream file's modification time. It helps if
    ///     both the saved text and the clock are lost.
    public init(savedText: [UInt8]?, floor: Int64 = 0) {
        let saved = savedText.flatMap(Self.highestRecord) ?? 0
        last = max(saved, min(max(floor, 0), Self.latestClock))
        ceiling = saved
    }

    /// Reads the present contents of the disk. Another process may have reserved nonces: they count as used, with all
    /// before them.
    public mutating func read(savedText: [UInt8]?) {
        let saved = savedText.flatMap(Self.highestRecord) ?? 0
        guard saved != ceiling else { return }
        last = max(last, saved)
        // If the disk has lost it, the next nonce is written again.
        ceiling = saved
    }

    /// - Parameter unixSeconds: the clock's value, correct or not.
    public mutating func next(unixSeconds: Int64) -> Int64 {
        last = max(min(unixSeconds, Self.latestClock), last &+ 1)
        if last > ceiling {
            ceiling = last &+ Self.reservation
            unsavedText = Self.text(for: ceiling)
        }
        return last
    }

    /// The text is completely on disk.
    public mutating func saved() { unsavedText = nil }

    /// Two equal records, so that one survives an interrupted write or a single bad byte.
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
