import Media
import Testing

@testable import PageLogic

private func at(_ seconds: Double) -> MediaTimestamp { .zero + .seconds(seconds) }

private let phone = Pairing.Attempt(secret: [1, 2, 3], name: "phone")
private let stranger = Pairing.Attempt(secret: [1, 2, 4], name: "stranger")

@Suite struct PairingTests {
    @Test func aPressAdmitsTheBrowserThatWaits() {
        var pairing = Pairing()
        let delay = pairing.requested(by: phone, now: at(0))
        #expect(delay == nil)
        #expect(pairing.isWaiting)
        let early = pairing.keyTaken(bySecret: phone.secret, now: at(1))
        #expect(early == nil)
        let admitted = pairing.pressed(now: at(10))
        #expect(admitted == phone)
        let progress = pairing.progress(ofSecret: phone.secret, now: at(11))
        #expect(progress == .admitted)
        let taken = pairing.keyTaken(bySecret: phone.secret, now: at(12))
        #expect(taken == phone)
        let again = pairing.keyTaken(bySecret: phone.secret, now: at(12))
        #expect(again == nil)
    }

    @Test func aPressMeansSomethingElseWhenNobodyWaits() {
        var pairing = Pairing()
        let nobody = pairing.pressed(now: at(0))
        #expect(nobody == nil)
        _ = pairing.requested(by: phone, now: at(0))
        _ = pairing.pressed(now: at(1))
        let second = pairing.pressed(now: at(2))
        #expect(second == nil)
    }

    @Test func anotherBrowserWaitsForItsTurn() {
        var pairing = Pairing()
        _ = pairing.requested(by: phone, now: at(0))
        let delay = pairing.requested(by: stranger, now: at(20))
        #expect(delay == .seconds(100))
        _ = pairing.pressed(now: at(30))
        let progress = pairing.progress(ofSecret: stranger.secret, now: at(31))
        #expect(progress == .none)
        let key = pairing.keyTaken(bySecret: stranger.secret, now: at(31))
        #expect(key == nil)
    }

    @Test func whoeverAsksTwiceKeepsItsTime() {
        var pairing = Pairing()
        _ = pairing.requested(by: phone, now: at(0))
        let delay = pairing.requested(by: phone, now: at(50))
        #expect(delay == nil)
        let progress = pairing.progress(ofSecret: phone.secret, now: at(60))
        #expect(progress == .waiting(.seconds(60)))
    }

    @Test func anAttemptEndsByItself() {
        var pairing = Pairing()
        _ = pairing.requested(by: phone, now: at(0))
        let late = pairing.pressed(now: at(120))
        #expect(late == nil)
        _ = pairing.requested(by: phone, now: at(200))
        _ = pairing.pressed(now: at(201))
        let key = pairing.keyTaken(bySecret: phone.secret, now: at(321))
        #expect(key == nil)
        #expect(pairing.nextDeadline == nil)
    }
}

@Suite struct BrowserKeysTests {
    private func key(_ number: UInt8) -> BrowserKeys.Key {
        BrowserKeys.Key(
            hash: Array(repeating: number, count: 32), created: 1000 + Int(number), name: "browser \(number)")
    }

    @Test func theOldestMakesRoomForASixth() {
        var keys = BrowserKeys()
        let replaced = (UInt8(1)...6).compactMap { keys.add(key($0)) }
        #expect(replaced == [key(1)])
        #expect(keys.keys == (UInt8(2)...6).map(key))
    }

    @Test func aKeyIsFoundByItsHashOnly() {
        var keys = BrowserKeys()
        _ = keys.add(key(1))
        _ = keys.add(key(2))
        #expect(keys.key(hashedTo: key(2).hash) == key(2))
        #expect(keys.key(hashedTo: key(3).hash) == nil)
        #expect(keys.key(hashedTo: []) == nil)
        #expect(keys.key(hashedTo: Array(key(2).hash.prefix(31))) == nil)
    }

    @Test func aRevokedKeyIsGone() {
        var keys = BrowserKeys()
        _ = keys.add(key(1))
        let nobody = keys.revoke(id: "00000000")
        #expect(nobody == nil)
        let revoked = keys.revoke(id: "01010101")
        #expect(revoked == key(1))
        #expect(keys.key(hashedTo: key(1).hash) == nil)
    }

    @Test func theFileKeepsThem() {
        var keys = BrowserKeys()
        for number in UInt8(1)...3 { _ = keys.add(key(number)) }
        #expect(BrowserKeys(parsing: keys.text) == keys)
    }

    @Test(arguments: ["", "x", "\n\n", "0102 5 name", "zz 5 name", String(repeating: "a", count: 64) + " soon name"])
    func damagedLinesGiveNoKey(text: String) {
        #expect(BrowserKeys(parsing: text) == BrowserKeys())
    }
}

@Suite struct AttemptLimitsTests {
    @Test func anAddressWaitsAfterFiveAttempts() {
        var limits = AttemptLimits()
        let first = (0..<5).map { _ in limits.attempted(from: "10.0.0.1", now: at(0)) }
        #expect(first == Array(repeating: nil, count: 5))
        let sixth = limits.attempted(from: "10.0.0.1", now: at(0))
        #expect(sixth == .seconds(60))
        let other = limits.attempted(from: "10.0.0.2", now: at(0))
        #expect(other == nil)
        let later = limits.attempted(from: "10.0.0.1", now: at(60))
        #expect(later == nil)
    }

    @Test func manyAddressesShareOneLimit() {
        var limits = AttemptLimits()
        for number in 0..<AttemptLimits.addressLimit { _ = limits.attempted(from: "a\(number)", now: at(0)) }
        let refused = (0..<20).filter { limits.attempted(from: "b\($0)", now: at(1)) != nil }
        #expect(refused.count >= 14)
    }
}
