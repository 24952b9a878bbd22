import Media
import Testing

@testable import PageLogic

private func at(_ seconds: Double) -> MediaTimestamp { .zero + .seconds(seconds) }

private let phone = Pairing.Attempt(secret: [1, 2, 3], name: "phone")
private let stranger = Pairing.Attempt(secret: [1, 2, 4], name: "stranger")

extension Pairing {
    fileprivate mutating func asked(_ attempt: Attempt, insteadOf earlier: [[UInt8]] = [], at seconds: Double) {
        requested(by: attempt, insteadOf: earlier, now: at(seconds))
    }

    fileprivate mutating func waiting(_ attempt: Attempt, at seconds: Double) -> Waiting? {
        guard case .waiting(let waiting) = progress(ofSecret: attempt.secret, now: at(seconds)) else { return nil }
        return waiting
    }
}

@Suite struct PairingTests {
    @Test func aPressAdmitsTheBrowserThatWaits() {
        var pairing = Pairing()
        pairing.asked(phone, at: 0)
        #expect(pairing.isWaiting)
        let early = pairing.keyTaken(bySecret: phone.secret, now: at(1))
        #expect(early == nil)
        let press = pairing.pressed(now: at(10))
        #expect(press == .admitted(phone))
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
        #expect(nobody == .unneeded)
        pairing.asked(phone, at: 0)
        _ = pairing.pressed(now: at(1))
        let second = pairing.pressed(now: at(2))
        #expect(second == .unneeded)
    }

    @Test func aPressAdmitsNobodyWhileSeveralWait() {
        var pairing = Pairing()
        pairing.asked(phone, at: 0)
        pairing.asked(stranger, at: 20)
        let (own, other) = (pairing.waiting(phone, at: 21), pairing.waiting(stranger, at: 21))
        #expect(own?.otherCount == 1 && other?.otherCount == 1)
        #expect(own?.code != other?.code)
        let press = pairing.pressed(now: at(30))
        #expect(press == .ambiguous(count: 2))
        for attempt in [phone, stranger] {
            let progress = pairing.progress(ofSecret: attempt.secret, now: at(31))
            #expect(progress == .none)
            let key = pairing.keyTaken(bySecret: attempt.secret, now: at(31))
            #expect(key == nil)
        }
        let next = pairing.pressed(now: at(32))
        #expect(next == .unneeded)
    }

    @Test func theCodeChoosesOneOfSeveral() throws {
        var pairing = Pairing()
        pairing.asked(phone, at: 0)
        pairing.asked(stranger, at: 0)
        let code = try #require(pairing.waiting(phone, at: 1)?.code)
        let wrong = pairing.allowed(code: code == 99 ? 10 : code + 90, now: at(2))
        #expect(wrong == nil)
        let admitted = pairing.allowed(code: code, now: at(2))
        #expect(admitted == phone)
        #expect(pairing.waiting(stranger, at: 3)?.otherCount == 0)
        let taken = pairing.keyTaken(bySecret: phone.secret, now: at(3))
        #expect(taken == phone)
    }

    @Test func whoeverAsksAgainHasOneAttemptWithItsNewSecret() {
        var pairing = Pairing()
        let renewed = Pairing.Attempt(secret: [9, 9, 9], name: "phone")
        pairing.asked(phone, at: 0)
        pairing.asked(renewed, insteadOf: [stranger.secret, phone.secret], at: 50)
        #expect(pairing.waiting(phone, at: 50) == nil)
        #expect(pairing.waiting(renewed, at: 60)?.rest == .seconds(110))
        #expect(pairing.waiting(renewed, at: 60)?.otherCount == 0)
    }

    /// Someone has put the secret of an own attempt into the browser of the camera's owner.
    @Test func aPlantedSecretGetsNoKey() {
        var pairing = Pairing()
        pairing.asked(stranger, at: 0)
        pairing.asked(phone, insteadOf: [stranger.secret], at: 1)
        let press = pairing.pressed(now: at(2))
        #expect(press == .admitted(phone))
        let key = pairing.keyTaken(bySecret: stranger.secret, now: at(3))
        #expect(key == nil)
    }

    @Test func manyAttemptsKeepAPressFromAdmittingAnyone() {
        var pairing = Pairing()
        pairing.asked(phone, at: 0)
        _ = pairing.pressed(now: at(1))
        for number in UInt8(0)..<20 { pairing.asked(Pairing.Attempt(secret: [5, number], name: "\(number)"), at: 2) }
        #expect(pairing.waiting.count == Pairing.limit - 1, "the admitted one is kept")
        #expect(Set(pairing.waiting.map(\.code)).count == Pairing.limit - 1)
        #expect(pairing.waiting.allSatisfy { (10...99).contains($0.code) })
        let press = pairing.pressed(now: at(3))
        #expect(press == .ambiguous(count: Pairing.limit - 1))
        let taken = pairing.keyTaken(bySecret: phone.secret, now: at(4))
        #expect(taken == phone)
    }

    @Test func anAttemptEndsByItself() {
        var pairing = Pairing()
        pairing.asked(phone, at: 0)
        let late = pairing.pressed(now: at(120))
        #expect(late == .unneeded)
        pairing.asked(phone, at: 200)
        _ = pairing.pressed(now: at(201))
        let key = pairing.keyTaken(bySecret: phone.secret, now: at(321))
        #expect(key == nil)
        #expect(pairing.nextDeadline == nil)
    }
}

@Suite struct AcceptPauseTests {
    @Test func theListenerRestsAndPeopleAreToldOnce() {
        var pause = AcceptPause()
        let first = pause.failed(now: at(0))
        #expect(first && pause.end == at(1))
        pause.timeReached(now: at(0.9))
        #expect(pause.end != nil)
        pause.timeReached(now: at(1))
        #expect(pause.end == nil)
        let second = pause.failed(now: at(1))
        #expect(!second && pause.end == at(2))
        let later = pause.failed(now: at(600))
        #expect(later)
    }
}

@Suite struct PageAddressesTests {
    @Test func nameAndAddressesStandForTheAddressThatNobodyCanOpen() {
        for host in ["0.0.0.0", "::"] {
            let urls = PageAddresses.urls(
                .http, listeningOn: host, port: 80, name: "tallycam", own: ["10.0.0.7", "fd00::7"])
            #expect(urls == ["http://tallycam.local", "http://10.0.0.7", "http://[fd00::7]"])
        }
        #expect(
            PageAddresses.urls(.http, listeningOn: "::1", port: 8080, name: "x", own: ["10.0.0.7"]) == [
                "http://[::1]:8080"
            ])
        #expect(
            PageAddresses.urls(.https, listeningOn: "::", port: 443, name: "x", own: ["fd00::7"]) == [
                "https://x.local", "https://[fd00::7]",
            ])
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
