import JSONText
import LinuxIO
import Media
import SeededNumbers
import Settings
import Testing

/// Whatever happens to the files on the card, nothing traps, and every report has a position, an example and no secret.
@Suite("Mutated files")
struct MutatedFileTests {
    private static let secret = "wIxQoZkVbJ"

    private static let rich: [String: String] = [
        "board": """
        {"name": "Bench", "button": {"chip": "pinctrl", "line": "GPIO17", "activeLow": true},
         "statusLED": {"line": "GPIO27"}, "flashLED": {"line": "GPIO22"}, "encoder": "v4l2", "lens": "dw9807",
         "microphone": "hw:1", "watchdog": "/dev/watchdog", "console": "/dev/ttyAMA0"}
        """,
        "device": """
        {"camera": "imx708", "dimension": "720p", "orientation": 180, "quality": {"lowest": "Low2", "highest": "High1"},
         "audio": {"source": "silence"}, "buffer": {"seconds": 2.5}, "statusInterval": 10, "console": false}
        """,
        "network": """
        {"hostName": "camera-2", "country": "de", "timeServers": ["pool.ntp.org", "10.0.0.1"],
         "wifi": [{"ssid": "Studio", "password": "\(secret)"}, {"ssid": "Attic", "hidden": true, "password": "\(secret)"}]}
        """,
        "stream": """
        {"id": "z1.hub.front-door", "hub": "hub", "title": "front-door", "publishKey": "\(secret)",
         "publishSecurity": "expiring", "publishLifetime": 3600, "hosts": {"publish": {"rtmp": "pub.example:1935"}}}
        """,
    ]

    private func sample(_ name: String) throws -> [UInt8] {
        let checkout = "\(#filePath)".split(separator: "/").dropLast(3).joined(separator: "/")
        let folder = name == "board" ? "rpi4" : "common"
        return try readFile("/\(checkout)/board/\(folder)/\(name).json", limit: 1 << 16)
    }

    private func mutated(_ bytes: [UInt8], _ numbers: inout SeededGenerator) -> [UInt8] {
        var result = bytes
        for _ in 0..<Int.random(in: 1...3, using: &numbers) {
            let place = Int.random(in: 0...result.count, using: &numbers)
            let end = min(result.count, place + Int.random(in: 0...12, using: &numbers))
            switch Int.random(in: 0..<6, using: &numbers) {
            case 0: result.insert(UInt8.random(in: 0...255, using: &numbers), at: place)
            case 1: result.removeSubrange(place..<end)
            case 2: result.insert(contentsOf: result[place..<end], at: place)
            case 3 where place < result.count: result[place] ^= 1 << UInt8.random(in: 0..<8, using: &numbers)
            case 4:
                result.insert(
                    contentsOf: Array(
                        ["null", "{}", "\"\"", ",", "-1e9", "[["].randomElement(using: &numbers)?.utf8 ?? "".utf8),
                    at: place)
            default:
                // Replace a name by another one.
                guard let from = result.firstIndex(of: UInt8(ascii: ":")), place < from else { break }
                result.insert(contentsOf: result[place..<from], at: end)
            }
        }
        return result
    }

    private func faults(_ name: String, _ bytes: [UInt8]) -> [DescriptionFault] {
        do throws(JSONTextError) {
            let json = try JSONValue(parsing: bytes)
            switch name {
            case "board": return BoardDescription.decode(json).faults
            case "device": return DeviceDescription.decode(json, vocabulary: DeviceFileTests.vocabulary).faults
            case "network": return networkFaults(json, bytes)
            default: return StreamDescription.decode(json).faults
            }
        } catch {
            return [error.fault(example: "{}")]
        }
    }

    /// A network with a password in the file was meant to be protected, so none may be open.
    private func networkFaults(_ json: JSONValue, _ bytes: [UInt8]) -> [DescriptionFault] {
        let decoded = NetworkDescription.decode(json)
        let open = decoded.goodPart?.wifi.filter { $0.password == nil } ?? []
        let passwords =
            String(decoding: bytes, as: UTF8.self).split(separator: Self.secret, omittingEmptySubsequences: false).count
            - 1
        #expect(open.isEmpty || passwords < 2, "\(String(decoding: bytes, as: UTF8.self))")
        return decoded.faults
    }

    @Test(arguments: ["board", "device", "network", "stream"])
    func mutatedFileIsReported(name: String) throws {
        var reported = 0
        for (number, bytes) in [try sample(name), Array((Self.rich[name] ?? "").utf8)].enumerated() {
            if number == 1 { #expect(faults(name, bytes) == []) }
            for seed in 0..<200 {
                var numbers = SeededGenerator(seed: UInt64(seed))
                let text = mutated(bytes, &numbers)
                let lineCount = text.filter { $0 == 0x0A || $0 == 0x0D }.count + 1
                let all = faults(name, text)
                reported += all.isEmpty ? 0 : 1
                for fault in all {
                    let line = fault.description
                    #expect((1...lineCount).contains(fault.position.line), "\(line)")
                    #expect(fault.isWarning || fault.example != nil, "\(line)")
                    #expect(line.unicodeScalars.allSatisfy { $0.value >= 0x20 } && line.utf8.count < 4096)
                    #expect(!quotesSecret(line), "\(line)")
                }
            }
        }
        #expect(reported > 200)
    }

    /// Four consecutive characters of it are not a coincidence.
    private func quotesSecret(_ line: String) -> Bool {
        let secret = Array(Self.secret)
        return (0...secret.count - 4).contains { line.hasPart(String(secret[$0..<$0 + 4])) }
    }

    @Test(arguments: ["board", "device", "network", "stream"])
    func randomBytesAreNotAFile(name: String) {
        for seed in 0..<100 {
            var numbers = SeededGenerator(seed: UInt64(seed))
            let bytes = (0..<Int.random(in: 0...2000, using: &numbers)).map { _ in
                UInt8.random(in: 0...255, using: &numbers)
            }
            #expect(!faults(name, bytes).isEmpty)
        }
    }
}
