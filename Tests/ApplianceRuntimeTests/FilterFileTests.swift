import ApplianceLogic
import MediaTestSupport
import Testing

@testable import ApplianceRuntime
@testable import CardStorage

/// Files for the filters in device.json.
@Suite(.serialized) struct FilterFileTests {
    private let time = VirtualTime()

    /// Two points per side that change nothing.
    private static let look =
        "LUT_3D_SIZE 2\n" + (0..<8).map { "\($0 & 1) \($0 >> 1 & 1) \($0 >> 2 & 1)\n" }.joined()

    private func device(_ filter: String, _ path: String) -> String {
        #"{"camera": "synthetic", "filters": [{"filter": "gray"}, {"filter": "\#(filter)", "file": "\#(path)"}]}"#
    }

    @Test func missingWatermarkIsAFaultUntilItAppears() throws {
        try time.run {
            let camera = try Camera(board: #"{"name": "Bench"}"#)
            let path = camera.path("look.cube")
            try camera.write("device", device("lut", path))
            try camera.start()
            _ = try camera.liveRun { _ = try camera.ask("start") }
            try camera.waitUntil { try camera.status().faults.contains(3) }
            try camera.waitUntil { camera.read("boot/faults.txt").contains("(3 blinks)") }
            let faults = camera.read("boot/faults.txt")
            for words in [
                "device.json, line 1, column 83", "key:     filters[1].file", "filter lut: open \(path): No such file",
                "the filter is skipped",
            ] {
                #expect(faults.contains(words), "\(faults)")
            }

            try camera.writeFile(Self.look, to: "look.cube")
            try camera.waitUntil { camera.read("boot/faults.txt").isEmpty }
            #expect(try camera.status().faults.isEmpty)
            try camera.end()
        }
    }

    @Test(arguments: [
        ("image", "GIF89a", "is not an image: it is neither PNG nor JPEG"),
        ("lut", "LUT_3D_SIZE 2\n0 0 0\n", "line 2: the file ends after 1 of the 8 points that LUT_3D_SIZE calls for"),
    ])
    func brokenFileIsAFault(filter: String, contents: String, expected: String) throws {
        let directory = try TemporaryDirectory()
        let path = try directory.write(Array(contents.utf8), to: "file")
        _ = try directory.write(Array(device(filter, path).utf8), to: "device.json")
        let files = DescriptionFiles(reading: directory.path)
        let fault = try #require(files.errors.first { $0.file == "device.json" })
        #expect(fault.kind == .settings && fault.kind.blinkCount == 3)
        #expect(fault.fault.keyPath == "filters[1].file" && fault.fault.problem.contains(expected), "\(fault.fault)")
        #expect(files.device.filters.settings.count == 2, "what is right in the file holds")
        #expect(!files.mediaFilesHaveChanged)
    }

    @Test func changedFileIsNoticedAndARepairedOneNeedsARestart() throws {
        let directory = try TemporaryDirectory()
        let path = try directory.write(Array("LUT_3D_SIZE 1\n".utf8), to: "look.cube")
        _ = try directory.write(Array(device("lut", path).utf8), to: "device.json")
        let broken = DescriptionFiles(reading: directory.path)
        _ = try directory.write(Array(Self.look.utf8), to: "look.cube")
        #expect(broken.mediaFilesHaveChanged)
        let repaired = DescriptionFiles(reading: directory.path)
        #expect(repaired.errors.allSatisfy { $0.file != "device.json" })
        #expect(repaired.canUseMoreFilters(than: broken) && !broken.canUseMoreFilters(than: repaired))
        #expect(!repaired.canUseMoreFilters(than: repaired))
    }
}
