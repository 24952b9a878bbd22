import FuzzDriver
import JSONText
import Media
import Settings

@main enum FuzzJSON {
    static func main() { fuzz(testOneInput) }
}

/// The files and texts that people and services write: `stream.json` and its siblings, the URL alone, and the saved nonce.
private func testOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = [UInt8](UnsafeRawBufferPointer(start: data, count: count))
    switch bytes.first {
    case UInt8(ascii: "n"): readNonce(bytes)
    case UInt8(ascii: "r"), UInt8(ascii: "R"): readURL(String(decoding: bytes, as: UTF8.self))
    default: readFile(bytes)
    }
    return 0
}

private func readFile(_ bytes: [UInt8]) {
    let json: JSONValue
    do throws(JSONTextError) {
        json = try JSONValue(parsing: bytes)
    } catch {
        check(error.fault(example: "{}"), lineCount: bytes.count + 1)
        return
    }
    let lineCount = bytes.count + 1
    let stream = StreamDescription.decode(json)
    check(stream, lineCount: lineCount)
    for target in stream.value?.targets ?? [] { connect(target) }
    if json["dimension"] != nil || json["quality"] != nil || json["buffer"] != nil || json["audio"] != nil {
        check(DeviceDescription.decode(json, vocabulary: vocabulary), lineCount: lineCount)
    }
    if json["wifi"] != nil || json["hostName"] != nil {
        check(NetworkDescription.decode(json), lineCount: lineCount)
    }
    if json["button"] != nil || json["name"] != nil { check(BoardDescription.decode(json), lineCount: lineCount) }
}

private let qualities = ["Low1", "Medium1", "Medium3", "High1", "3500k", "4500k@60"]
private let vocabulary = DeviceVocabulary(
    videoQualities: VideoQualityVocabulary(
        names: qualities, kilobits: 150...20_000, frameRates: 24...60,
        named: { name in
            qualities.firstIndex(of: name).map { .quality(name: name, Bitrate(kilobitsPerSecond: $0)) } ?? .unknown
        },
        problemWithLevel: { $0 == "3500k" && $1 == "1080p" ? "is too much" : nil }), audioQualities: ["High1", "High2"]
) { $0.hasSuffix("p") ? nil : "is no size" }

private func check<Value>(_ decoded: Decoded<Value>, lineCount: Int) {
    precondition((decoded.value == nil) == !decoded.errors.isEmpty, "a fault without an error, or the other way")
    for fault in decoded.faults { check(fault, lineCount: lineCount) }
}

private func check(_ fault: DescriptionFault, lineCount: Int) {
    precondition((1...lineCount).contains(fault.position.line) && (1...lineCount).contains(fault.position.column))
    let text = fault.description
    precondition(isPrintable(text), "a control character is printed")
    precondition(text.utf8.count < 4096, "a fault is reported at length")
}

/// Signs two connections, and reads the URL like the connection.
private func connect(_ target: TargetDescription) {
    var nonces = NonceSequence(savedText: nil)
    for _ in 0..<2 {
        guard
            let url = try? target.publishURL(
                unixSeconds: 1_700_000_000, nonces: &nonces, hmacSHA1: { key, _ in [UInt8](key.prefix(20)) })
        else { preconditionFailure("a description without faults has no URL") }
        precondition(url.port > 0)
        precondition(!url.application.isEmpty && !url.streamName.revealed.isEmpty, "a part of the URL is missing")
        precondition(isPrintable("\(url)"))
        if let again = try? RTMPURL(parsing: "\(url.origin)/\(url.application)/\(url.streamName.revealed)") {
            precondition(again.host == url.host && again.port == url.port, "the host changed")
        }
    }
    _ = target.platform.name
}

private func readURL(_ text: String) {
    do throws(RTMPURLError) {
        let url = try RTMPURL(parsing: text)
        precondition(isPrintable("\(url)"), "a URL has a control character")
        precondition(!url.application.isEmpty && !url.streamName.revealed.isEmpty && url.port > 0)
        let brackets = url.host.utf8.contains(UInt8(ascii: ":"))
        guard (try? NetworkHost(parsing: brackets ? "[\(url.host)]" : url.host))?.name == url.host else {
            preconditionFailure("the host changed")
        }
    } catch {
        precondition(isPrintable("\(error)"))
    }
}

private func readNonce(_ bytes: [UInt8]) {
    var nonces = NonceSequence(savedText: bytes)
    let first = nonces.next(unixSeconds: 0)
    precondition(first > 0 && nonces.next(unixSeconds: 0) > first, "a nonce goes back")
    guard let saved = nonces.unsavedText else { preconditionFailure("nothing to save after the first number") }
    var restarted = NonceSequence(savedText: Array(saved.utf8))
    precondition(restarted.next(unixSeconds: 0) > first + 1, "a nonce is used twice after a restart")
}

/// Lines of a log must stay single lines.
private func isPrintable(_ text: String) -> Bool {
    text.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) }
}
