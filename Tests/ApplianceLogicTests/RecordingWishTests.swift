import ApplianceLogic
import Testing

@Suite struct RecordingWishTests {
    @Test func fileDecidesUntilAPersonDoes() {
        var wish = RecordingWish()
        #expect(!wish.isWanted(whileLive: true))
        wish.configured(.live)
        #expect(wish.isWanted(whileLive: true) && !wish.isWanted(whileLive: false))
        wish.configured(.always)
        #expect(wish.isWanted(whileLive: true) && wish.isWanted(whileLive: false))
        let isAllowed = wish.ordered(false)
        #expect(isAllowed)
        wish.streamEnded()
        #expect(!wish.isWanted(whileLive: true) && !wish.isWanted(whileLive: false))
        wish.configured(.command)
        let isAllowedToo = wish.ordered(true)
        #expect(isAllowedToo)
        wish.configured(.command)
        #expect(wish.isWanted(whileLive: false))
    }

    @Test func orderDuringALiveStreamEndsWithIt() {
        var wish = RecordingWish()
        wish.configured(.live)
        _ = wish.ordered(false)
        #expect(!wish.isWanted(whileLive: true))
        wish.streamEnded()
        #expect(wish.isWanted(whileLive: true))
    }

    @Test func offRefusesOrders() {
        var wish = RecordingWish()
        _ = wish.ordered(true)
        wish.configured(.off)
        let isAllowed = wish.ordered(true)
        #expect(!isAllowed && !wish.isWanted(whileLive: true))
    }
}
