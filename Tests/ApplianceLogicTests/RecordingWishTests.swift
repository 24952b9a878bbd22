import ApplianceLogic
import Testing

@Suite struct RecordingWishTests {
    @Test func fileDecidesUntilAPersonDoes() {
        var wish = RecordingWish()
        #expect(!wish.isWanted(whileStreaming: true))
        wish.configured(.live)
        #expect(wish.isWanted(whileStreaming: true) && !wish.isWanted(whileStreaming: false))
        wish.configured(.always)
        #expect(wish.isWanted(whileStreaming: true) && wish.isWanted(whileStreaming: false))
        let isAllowed = wish.ordered(false)
        #expect(isAllowed)
        wish.streamEnded()
        #expect(!wish.isWanted(whileStreaming: true) && !wish.isWanted(whileStreaming: false))
        wish.configured(.command)
        let isAllowedToo = wish.ordered(true)
        #expect(isAllowedToo)
        wish.configured(.command)
        #expect(wish.isWanted(whileStreaming: false))
    }

    @Test func orderDuringALiveStreamEndsWithIt() {
        var wish = RecordingWish()
        wish.configured(.live)
        _ = wish.ordered(false)
        #expect(!wish.isWanted(whileStreaming: true))
        wish.streamEnded()
        #expect(wish.isWanted(whileStreaming: true))
    }

    @Test func offRefusesOrders() {
        var wish = RecordingWish()
        _ = wish.ordered(true)
        wish.configured(.off)
        let isAllowed = wish.ordered(true)
        #expect(!isAllowed && !wish.isWanted(whileStreaming: true))
    }
}
