import Media
import Testing
import V4L2Devices

@Suite struct PictureLedgerTests {
    private func time(_ milliseconds: Int64) -> MediaTimestamp { MediaTimestamp(milliseconds: milliseconds) }

    @Test func picturesOvertakenByALaterOneWereSkipped() {
        var ledger = PictureLedger()
        for index in Int64(0)..<5 { ledger.pictureSubmitted(time(index * 40)) }
        let first = ledger.pictureReturned(time(0))
        #expect(first)
        #expect(ledger.skippedCount == 0)
        let later = ledger.pictureReturned(time(120))
        #expect(later)
        #expect(ledger.skippedCount == 2 && ledger.pendingCount == 1)
    }

    @Test func everyPatternOfSkipsAddsUp() {
        for pattern in 0..<256 {
            var ledger = PictureLedger()
            var returned = 0
            for index in 0..<64 {
                ledger.pictureSubmitted(time(Int64(index)))
                if pattern >> (index % 8) & 1 == 0, ledger.pictureReturned(time(Int64(index))) { returned += 1 }
            }
            #expect(returned + ledger.skippedCount + ledger.pendingCount == 64)
            ledger.encoderClosed()
            #expect(returned + ledger.skippedCount == 64 && ledger.isEmpty)
        }
    }

    @Test func timestampsAreComparedInMicroseconds() {
        var ledger = PictureLedger()
        ledger.pictureSubmitted(MediaTimestamp(nanoseconds: 1_234_567_891))
        let isExpected = ledger.pictureReturned(MediaTimestamp(nanoseconds: 1_234_567_000))
        #expect(isExpected)
    }

    @Test func aPictureIsExpectedOnce() {
        var ledger = PictureLedger()
        ledger.pictureSubmitted(time(1))
        let first = ledger.pictureReturned(time(1))
        #expect(first)
        let again = ledger.pictureReturned(time(1))
        #expect(!again)
        ledger.pictureLost(time(1))
        #expect(ledger.skippedCount == 0)
    }
}

@Suite struct EncoderMemoryPlanTests {
    private typealias Available = EncoderMemoryPlan.Available

    @Test func contiguousMemoryCountsWhereThereIsAny() {
        let board = Available(memoryInformation: "MemAvailable:  300000 kB\nCmaTotal:  65536 kB\nCmaFree:  20000 kB\n")
        #expect(board == Available(kilobytes: 20_000, most: 65_536, kind: "contiguous memory (CMA)"))
        let machine = Available(memoryInformation: "MemTotal: 9 kB\nMemAvailable:  300000 kB\nCmaTotal:  0 kB\n")
        #expect(machine == Available(kilobytes: 300_000, kind: "memory"))
        #expect(Available(memoryInformation: "nothing") == nil)
    }

    private func plans(_ available: Available, inputSize: Int = 1 << 20) throws -> [Int] {
        try EncoderMemoryPlan.plans(
            inputSize: inputSize, outputSize: 512 << 10, available: available, path: "/dev/video11"
        ).map(\.inputCount)
    }

    @Test func takesFewerBuffersWhereMemoryIsShort() throws {
        #expect(try plans(Available(kilobytes: 1 << 20, kind: "memory")) == [6, 4, 3, 2])
        #expect(try plans(Available(kilobytes: 12_000, kind: "memory")) == [4, 3, 2])
        #expect(try plans(Available(kilobytes: 8000, kind: "memory")) == [2])
        #expect {
            try plans(Available(kilobytes: 5000, kind: "memory"))
        } throws: { error in
            error as? HardwareEncodingError
                == .insufficientMemory(
                    path: "/dev/video11", neededKilobytes: 7680, availableKilobytes: 5000, of: "memory")
        }
    }

    /// Files' pages lie in contiguous memory while nobody else wants it.
    @Test func theLeanestPlanIsTriedWhereTheKernelMayMakeRoom() throws {
        #expect(try plans(Available(kilobytes: 500, most: 65_536, kind: "CMA")) == [2])
        #expect(throws: HardwareEncodingError.self) { try plans(Available(kilobytes: 500, most: 6000, kind: "CMA")) }
        #expect(try EncoderMemoryPlan.plans(inputSize: 1, outputSize: 1, available: nil, path: "x").count == 4)
    }

    @Test func theCamerasOwnMemoryCostsNothing() throws {
        let plan = try EncoderMemoryPlan.plans(
            inputSize: 0, outputSize: 512 << 10, available: Available(kilobytes: 8192, kind: "memory"), path: "x")
        #expect(plan.first?.outputCount == 8)
    }
}
