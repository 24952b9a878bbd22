import Settings
import Testing

@Suite("Nonces")
struct NonceSequenceTests {
    private func saved(_ text: String?) -> [UInt8]? { text.map { Array($0.utf8) } }

    @Test func noncesFollowTheClockAndNeverDecrease() {
        var nonces = NonceSequence(savedText: nil)
        #expect(nonces.next(unixSeconds: 1000) == 1000)
        #expect(nonces.next(unixSeconds: 1000) == 1001)
        #expect(nonces.next(unixSeconds: 5) == 1002)
        #expect(nonces.next(unixSeconds: 2000) == 2000)
        #expect(nonces.next(unixSeconds: -7) == 2001)
        #expect(nonces.next(unixSeconds: .max) > 2001)
        #expect(nonces.next(unixSeconds: .max) > 1 << 53)
    }

    @Test func noncesContinueAfterARestartWithTheClockIn1970() throws {
        var nonces = NonceSequence(savedText: nil)
        let before = nonces.next(unixSeconds: 1_790_000_000)
        let text = try #require(nonces.unsavedText)
        var restarted = NonceSequence(savedText: saved(text))
        let after = restarted.next(unixSeconds: 12)
        #expect(after > before)
        #expect(after - before < 100)
    }

    @Test func noncesContinueAfterAClockFarInTheFuture() throws {
        var nonces = NonceSequence(savedText: nil)
        let before = nonces.next(unixSeconds: .max)
        var restarted = NonceSequence(savedText: saved(try #require(nonces.unsavedText)))
        #expect(restarted.next(unixSeconds: 0) > before)
    }

    @Test func everyUsedNonceIsCoveredByTheDisk() {
        var disk: String?
        var used: [Int64] = []
        for boot in 0..<20 {
            var nonces = NonceSequence(savedText: saved(disk))
            for connection in 0..<(boot * 13) {
                used.append(nonces.next(unixSeconds: Int64(connection)))
                if let text = nonces.unsavedText {
                    disk = text
                    nonces.saved()
                }
            }
        }
        #expect(zip(used, used.dropFirst()).allSatisfy { $0 < $1 })
    }

    /// In turns, as the lock enforces: whichever process continues, nonces never repeat or decrease.
    @Test func processesThatShareADiskIncreaseTogether() {
        var disk: String?
        var processes = [NonceSequence(savedText: nil), NonceSequence(savedText: nil)]
        var used: [Int64] = []
        for (turn, process) in [0, 0, 1, 0, 1, 1, 1, 0, 0, 1].enumerated() {
            for clock in [Int64(turn), 1_000] {
                processes[process].read(savedText: saved(disk))
                used.append(processes[process].next(unixSeconds: clock))
                if let text = processes[process].unsavedText { disk = text }
                processes[process].saved()
            }
        }
        #expect(zip(used, used.dropFirst()).allSatisfy { $0 < $1 }, "\(used)")
    }

    @Test func lostRecordIsWrittenAgain() throws {
        var nonces = NonceSequence(savedText: nil)
        let before = nonces.next(unixSeconds: 1_000)
        nonces.saved()
        nonces.read(savedText: nil)
        #expect(nonces.next(unixSeconds: 5) == before + 1)
        var restarted = NonceSequence(savedText: saved(try #require(nonces.unsavedText)))
        #expect(restarted.next(unixSeconds: 5) > before + 1)
    }

    @Test func retriesWithoutANetworkWriteRarely() {
        var nonces = NonceSequence(savedText: nil)
        var writes = 0
        for attempt in 0..<10_000 {
            _ = nonces.next(unixSeconds: 1_790_000_000 + Int64(attempt) * 8)
            if nonces.unsavedText != nil { writes += 1 }
            nonces.saved()
        }
        #expect(writes < 1300)
    }

    @Test func unsavedTextStaysUntilItIsSaved() {
        var nonces = NonceSequence(savedText: nil)
        _ = nonces.next(unixSeconds: 10)
        let text = nonces.unsavedText
        _ = nonces.next(unixSeconds: 10)
        #expect(nonces.unsavedText == text && text != nil)
        nonces.saved()
        #expect(nonces.unsavedText == nil)
    }

    @Test func everyDamagedFileIsHandled() throws {
        var nonces = NonceSequence(savedText: nil)
        let before = nonces.next(unixSeconds: 1_790_000_000)
        let text = Array(try #require(nonces.unsavedText).utf8)
        let record = (text.count - 3) / 2
        for count in 0...text.count {
            var cut = NonceSequence(savedText: Array(text[..<count]))
            // From the first complete record on, the nonce is known; the line end does not matter.
            #expect((cut.next(unixSeconds: 0) > before) == (count >= record), "\(count) bytes")
            var zeroed = NonceSequence(
                savedText: Array(text[..<count]) + [UInt8](repeating: 0, count: text.count - count))
            #expect((zeroed.next(unixSeconds: 0) > before) == (count > record), "\(count) bytes, then zeros")
        }
        for index in text.indices {
            var broken = text
            broken[index] ^= 0x01
            var nonces = NonceSequence(savedText: broken)
            #expect(nonces.next(unixSeconds: 0) > before, "byte \(index)")
        }
    }

    @Test func foreignTextIsIgnored() {
        for text in [
            "", "x", "nonce", "nonce 5", "nonce 5 00000000\n", "nonce -5 1\n",
            "\u{FFFD}\n nonce 99999999999999999999 0\n",
        ] {
            var nonces = NonceSequence(savedText: saved(text))
            #expect(nonces.next(unixSeconds: 3) == 3)
        }
    }

    @Test func floorHelpsIfEverythingElseIsLost() {
        var nonces = NonceSequence(savedText: nil, floor: 1_700_000_000)
        #expect(nonces.next(unixSeconds: 12) == 1_700_000_001)
    }
}
