import ApplianceLogic
import CardStorage
import CommandChannels
import HTTP
import JSONText
import PageLogic
import Settings
import WebService

// The device's answers as the page reads them: docs/reference/api.
extension HTTPResponse {
    private static func object(_ status: HTTPStatus = .ok, _ body: (borrowing JSONObjectWriter) -> Void) -> HTTPResponse
    {
        var writer = JSONLineWriter()
        return .json(writer.line(body), status)
    }

    private static func array(_ body: (borrowing JSONArrayWriter) -> Void) -> HTTPResponse {
        var writer = JSONLineWriter()
        return .json(writer.arrayLine(body))
    }

    /// - Parameter parts: of one answer, the last one complete.
    static func answer(_ parts: [CommandAnswer]) -> HTTPResponse {
        let text = parts.flatMap { $0.content(as: .json) }
        switch parts.last {
        case .failed?: return .json(text, .conflict)
        case .status?, .controls?, .networks?: return .json(text)
        case .devices(let list)?: return .json(list.jsonArray)
        case .file(let bytes)?: return HTTPResponse(.ok, contentType: "image/jpeg", bytes)
        case .follow?: return .refusal(.conflict, name: "followsElsewhere", "follow the events at /api/v1/events/live")
        default: return object { $0.write("lines", parts.flatMap(\.lines)) }
        }
    }

    /// The status for a browser without JavaScript.
    static func plainStatus(_ parts: [CommandAnswer]) -> HTTPResponse {
        let lines = parts.flatMap(\.lines).map { line in
            line.unicodeScalars.reduce(into: "") { text, scalar in
                switch scalar {
                case "<": text += "&lt;"
                case "&": text += "&amp;"
                default: text.unicodeScalars.append(scalar)
                }
            }
        }
        let text = """
            <!doctype html>
            <html lang="en"><head><meta charset="utf-8"><meta http-equiv="refresh" content="5">
            <meta name="viewport" content="width=device-width"><title>Tallycam status</title>
            <link rel="stylesheet" href="/page.css"></head>
            <body><main><h1>Tallycam</h1><pre>\(lines.joined(separator: "\n"))</pre></main></body></html>

            """
        return HTTPResponse(.ok, contentType: "text/html; charset=utf-8", Array(text.utf8))
    }

    /// - Parameters:
    ///   - progress: `nil` for a browser without an attempt.
    ///   - press: what admits it.
    ///   - name: the device's.
    static func pairing(_ status: HTTPStatus, _ progress: Pairing.Progress?, press: String, name: String)
        -> HTTPResponse
    {
        object(status) { object in
            switch progress {
            case nil: object.write("state", "none")
            case .none?: object.write("state", "expired")
            case .waiting(let waiting)?:
                object.write("state", "waiting")
                object.write("seconds", Int(waiting.rest.inSeconds.rounded(.up)))
                object.write("code", waiting.code)
                object.write("others", waiting.otherCount)
            case .admitted?: object.write("state", "granted")
            }
            object.write("press", press)
            object.write("name", name)
        }
    }

    static func keys(_ keys: BrowserKeys, current: String) -> HTTPResponse {
        array { array in
            for key in keys.keys {
                array.writeObject { object in
                    object.write("id", key.id)
                    object.write("name", key.name)
                    object.write("created", key.created)
                    object.write("current", key.id == current)
                }
            }
        }
    }

    static func file(_ outcome: DescriptionOutcome) -> HTTPResponse {
        switch outcome {
        case .list(let files):
            return array { array in
                for (kind, exists) in files {
                    array.writeObject { object in
                        object.write("name", kind.rawValue)
                        object.write("exists", exists)
                    }
                }
            }
        case .text(let text, let tag):
            return HTTPResponse(.ok, contentType: "application/json; charset=utf-8", text).tagged(tag)
        case .support(let text): return HTTPResponse(.ok, contentType: "text/plain; charset=utf-8", text)
        case .missing: return .refusal(.notFound, name: "noFile", "the card has no such file yet")
        case .written(let tag, let warnings):
            return object { $0.write(faults: warnings) }.tagged(tag)
        case .changed(let tag):
            let words = tag == nil ? "the file is gone" : "the file has been changed since"
            return .refusal(.preconditionFailed, name: "changedMeanwhile", "\(words); load it again").tagged(tag)
        case .faulty(let faults):
            return object(.unprocessableContent) { object in
                object.write("error", "invalidFile")
                object.write("text", "the file is not saved: it has \(faults.count(where: { !$0.isWarning })) faults")
                object.write(faults: faults)
            }
        case .failed(let text): return .refusal(.serviceUnavailable, name: "card", text)
        }
    }

    private func tagged(_ tag: String?) -> HTTPResponse {
        var response = self
        if let tag { response.set("ETag", HTTPEntityTag(tag).headerValue) }
        return response
    }

    static func metrics(_ status: ApplianceStatus) -> HTTPResponse {
        HTTPResponse(.ok, contentType: "text/plain; version=0.0.4; charset=utf-8", status.metrics)
    }
}

extension JSONObjectWriter {
    fileprivate func write(faults: [DescriptionFault]) {
        writeArray("faults") { array in
            for fault in faults {
                array.writeObject { object in
                    object.write("line", fault.position.line)
                    object.write("column", fault.position.column)
                    object.write("key", fault.keyPath)
                    object.write("text", fault.problem)
                    object.write("isWarning", fault.isWarning)
                    if let example = fault.example { object.write("example", example) }
                }
            }
        }
    }
}
