import DevicePorts
import Testing

@Suite struct FramePoolTests {
    @Test func poolGrowsOnlyWhileEverythingIsLeased() {
        var pool = FramePool(byteCount: 10)
        let first = pool.take()
        var second: PooledFrame? = pool.take()
        let place = second.map { ObjectIdentifier($0) }
        #expect(place != ObjectIdentifier(first))
        second = nil
        #expect(ObjectIdentifier(pool.take()) == place)
        #expect(ObjectIdentifier(pool.take()) == place)
    }
}
