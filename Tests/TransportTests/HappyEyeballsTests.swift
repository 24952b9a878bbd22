import Media
import Testing

@testable import Transport

@Suite struct HappyEyeballsTests {
    var machine = HappyEyeballs<String>()

    /// Actions as text: an address, or `give up`.
    func text(_ actions: [HappyEyeballs<String>.Action]) -> [String] {
        actions.map { action in
            switch action {
            case .connect(let address): address
            case .giveUp: "give up"
            }
        }
    }

    func at(_ milliseconds: Int64) -> MediaTimestamp { MediaTimestamp(milliseconds: milliseconds) }

    @Test mutating func startsWithIPv6AtOnceAndAlternates() {
        #expect(text(machine.lookupAnswered(.ipv6, with: ["6a", "6b", "6c"], now: at(0))) == ["6a"])
        #expect(text(machine.lookupAnswered(.ipv4, with: ["4a"], now: at(10))) == [])
        #expect(machine.nextTime == at(250))
        #expect(text(machine.timePassed(now: at(249))) == [])
        #expect(text(machine.timePassed(now: at(250))) == ["4a"])
        #expect(text(machine.timePassed(now: at(500))) == ["6b"])
        #expect(text(machine.timePassed(now: at(760))) == ["6c"])
        #expect(machine.nextTime == nil)
    }

    @Test mutating func waitsBrieflyForIPv6() {
        #expect(text(machine.lookupAnswered(.ipv4, with: ["4a", "4b"], now: at(100))) == [])
        #expect(machine.nextTime == at(150))
        #expect(text(machine.lookupAnswered(.ipv6, with: ["6a"], now: at(140))) == ["6a"])
        #expect(machine.nextTime == at(390))
        #expect(text(machine.timePassed(now: at(390))) == ["4a"])
    }

    @Test mutating func continuesWithIPv4IfIPv6IsSilent() {
        _ = machine.lookupAnswered(.ipv4, with: ["4a"], now: at(0))
        #expect(text(machine.timePassed(now: at(50))) == ["4a"])
        #expect(text(machine.attemptFailed(now: at(60))) == [])
        #expect(text(machine.lookupAnswered(.ipv6, with: ["6a"], now: at(1000))) == ["6a"])
        #expect(text(machine.attemptFailed(now: at(1001))) == ["give up"])
        #expect(text(machine.timePassed(now: at(1002))) == [])
    }

    @Test mutating func doesNotWaitForAFamilyWithoutAddresses() {
        #expect(text(machine.lookupAnswered(.ipv6, with: [], now: at(0))) == [])
        #expect(text(machine.lookupAnswered(.ipv4, with: ["4a"], now: at(5))) == ["4a"])
    }

    @Test mutating func triesTheNextAddressAtOnceAfterAFailure() {
        _ = machine.lookupAnswered(.ipv6, with: ["6a"], now: at(0))
        _ = machine.lookupAnswered(.ipv4, with: ["4a", "4b"], now: at(0))
        #expect(text(machine.attemptFailed(now: at(20))) == ["4a"])
        #expect(machine.nextTime == at(270))
        #expect(text(machine.attemptFailed(now: at(30))) == ["4b"])
        #expect(text(machine.attemptFailed(now: at(40))) == ["give up"])
    }

    @Test mutating func givesUpOnlyAfterAllAddressesFailed() {
        _ = machine.lookupAnswered(.ipv6, with: ["6a"], now: at(0))
        _ = machine.lookupAnswered(.ipv4, with: ["4a"], now: at(0))
        #expect(text(machine.timePassed(now: at(250))) == ["4a"])
        #expect(text(machine.attemptFailed(now: at(300))) == [])
        #expect(text(machine.attemptFailed(now: at(301))) == ["give up"])
    }

    @Test mutating func givesUpWithoutAddresses() {
        #expect(text(machine.lookupAnswered(.ipv4, with: [], now: at(0))) == [])
        #expect(text(machine.lookupAnswered(.ipv6, with: [], now: at(0))) == ["give up"])
    }

    @Test mutating func endOfTheLookupEndsTheWait() {
        #expect(text(machine.lookupTimeEnded(now: at(5000))) == ["give up"])
        var other = HappyEyeballs<String>()
        _ = other.lookupAnswered(.ipv4, with: ["4a"], now: at(4980))
        #expect(text(other.lookupTimeEnded(now: at(5000))) == ["4a"])
        #expect(text(other.attemptFailed(now: at(5001))) == ["give up"])
    }
}
