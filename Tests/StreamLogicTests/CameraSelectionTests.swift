import Settings
import StreamLogic
import Testing

@Suite struct CameraSelectionTests {
    private var cameras = CameraSelection(["front", "back", "side"])

    @Test mutating func nextWrapsAround() {
        for name in ["back", "side", "front", "back"] { #expect(cameras.choose(.next) == .select(name)) }
    }

    /// Two quick `next` skip a camera, whatever happens to the first switch meanwhile.
    @Test mutating func nextCountsFromTheLastRequest() {
        #expect(cameras.choose(.next) == .select("back"))
        #expect(cameras.choose(.next) == .select("side"))
        #expect(cameras.current == "front")
        #expect(cameras.switched(to: "side") == "front")
        #expect(cameras.current == "side")
    }

    @Test mutating func choosingTheCurrentCameraCancelsASwitch() {
        #expect(cameras.choose(.named("front")) == .nothing("front"))
        #expect(cameras.choose(.named("back")) == .select("back"))
        #expect(cameras.choose(.named("back")) == .nothing("back"))
        #expect(cameras.choose(.named("front")) == .select("front"))
    }

    @Test mutating func failedCameraCanBeRequestedAgain() {
        _ = cameras.choose(.named("back"))
        cameras.failed("back")
        #expect(cameras.choose(.named("back")) == .select("back"))
        _ = cameras.choose(.named("side"))
        // A switch that failed earlier does not affect the present one.
        cameras.failed("back")
        #expect(cameras.choose(.named("side")) == .nothing("side"))
    }

    /// Neither a camera that fails nor the current one blocks `next`.
    @Test mutating func nextSkipsACameraThatFails() {
        #expect(cameras.choose(.next) == .select("back"))
        cameras.failed("back")
        #expect(cameras.choose(.next) == .select("side"))
        cameras.failed("side")
        #expect(cameras.choose(.next) == .select("back"))
        var two = CameraSelection(["front", "back"])
        for _ in 0..<3 {
            #expect(two.choose(.next) == .select("back"))
            two.failed("back")
        }
    }

    @Test mutating func unknownNameIsAnsweredWithTheList() {
        let refusal = CommandRefusal.unknownCamera("bakc", available: ["front", "back", "side"])
        #expect(cameras.choose(.named("bakc")) == .refuse(refusal))
    }

    @Test(arguments: [[], ["front"]]) func singleCameraCannotBeSwitched(names: [String]) {
        var cameras = CameraSelection(names)
        #expect(cameras.choose(.next) == .refuse(.singleCamera))
        #expect(cameras.current == names.first)
    }

    @Test(arguments: ["front", "cam-2", "a", "0123456789abcdef"]) func acceptsValidNames(name: String) {
        #expect(CameraName.problem(with: name) == nil)
    }

    @Test(arguments: ["", "next", "Front", "two words", "0123456789abcdefg", "vorn\u{E9}", "a_b"])
    func rejectsInvalidNames(name: String) { #expect(CameraName.problem(with: name) != nil) }
}
