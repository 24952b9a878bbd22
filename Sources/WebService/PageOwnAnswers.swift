import HTTP
import JSONText
import PageLogic

// Answers that need nothing but what the page itself knows.
extension HTTPResponse {
    package static func object(_ status: HTTPStatus = .ok, _ body: (borrowing JSONObjectWriter) -> Void) -> HTTPResponse
    {
        var writer = JSONLineWriter()
        return .json(writer.line(body), status)
    }

    package static func array(_ body: (borrowing JSONArrayWriter) -> Void) -> HTTPResponse {
        var writer = JSONLineWriter()
        return .json(writer.arrayLine(body))
    }

    /// The status for a browser without JavaScript.
    package static func plainStatus(_ lines: [String]) -> HTTPResponse {
        let lines = lines.map { line in
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
    package static func pairing(_ status: HTTPStatus, _ progress: Pairing.Progress?, press: String, name: String)
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

    package static func keys(_ keys: BrowserKeys, current: String) -> HTTPResponse {
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
}
