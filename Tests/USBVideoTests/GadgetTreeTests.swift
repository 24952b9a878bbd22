import Testing

@testable import USBVideo

@Suite struct GadgetTreeTests {
    private let tree: [GadgetTree.Step]

    init() {
        let bus = IsochronousBudget(packetBytes: 1024)
        let identity = GadgetIdentity(name: "stage-left", serialNumber: "10000000abcdef01")
        tree = GadgetTree(identity, VideoOffer(on: bus), on: bus, controls: UnitTests.statuses).steps
    }

    private func text(_ path: String) -> String? {
        for case .file(path, let text) in tree { return text }
        return nil
    }

    @Test func frameDescriptorIsComplete() {
        let frame = "functions/uvc.0/streaming/mjpeg/mjpeg/3"
        #expect(text("\(frame)/wWidth") == "1280" && text("\(frame)/wHeight") == "720")
        #expect(text("\(frame)/dwDefaultFrameInterval") == "333333")
        #expect(text("\(frame)/dwFrameInterval") == "333333\n400000\n500000\n666666\n1000000\n2000000\n")
        #expect(text("\(frame)/dwMaxVideoFrameBufferSize") == "253000")
        #expect(text("\(frame)/dwMaxBitRate") == "60720060" && text("\(frame)/dwMinBitRate") == "10120000")
        #expect(text("functions/uvc.0/streaming_maxpacket") == "1024")
        #expect(text("functions/uvc.0/control/processing/default/bmControls") == "65\n16")
    }

    @Test func directoriesAreCreatedBeforeTheirContents() {
        var made: Set = ["configs", "strings", "functions"]
        let kernels = [
            "functions/uvc.0/streaming", "functions/uvc.0/control", "functions/uvc.0/streaming/class",
            "functions/uvc.0/streaming/mjpeg",
        ]
        for step in tree {
            guard case .directory(let path) = step else { continue }
            let parent = path.split(separator: "/").dropLast().joined(separator: "/")
            let isOfKernel = kernels.contains { parent.hasPrefix($0) } || parent.hasSuffix("/strings")
            #expect(made.contains(parent) || isOfKernel, "\(path)")
            made.insert(path)
        }
    }

    @Test func linksAreCreatedAfterTheirTargets() {
        var made: Set<String> = []
        for step in tree {
            switch step {
            case .directory(let path): made.insert(path)
            case .link(let path, let target):
                #expect(made.contains(target), "\(path)")
                made.insert(path)
            case .file(let path, _), .bytes(let path, _):
                // The kernel accepts no changes to anything that is linked.
                let linked = tree.prefix { $0 != step }.contains { earlier in
                    if case .link(_, let target) = earlier { path.hasPrefix("\(target)/") } else { false }
                }
                #expect(!linked, "\(path)")
            }
        }
        // The kernel makes descriptors for every speed, whatever the controller supports.
        #expect(["fs", "hs", "ss"].allSatisfy { made.contains("functions/uvc.0/streaming/class/\($0)/h") })
    }

    @Test func longNameIsCut() {
        let identity = GadgetIdentity(name: String(repeating: "ä", count: 40), serialNumber: "1")
        #expect(identity.name == String(repeating: "ä", count: 15))
    }
}
