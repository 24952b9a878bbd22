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
