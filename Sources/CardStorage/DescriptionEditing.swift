import Glibc
import JSONText
import LinuxIO
import Media
import Settings
import Transport

/// What the page asks of a description file on the card.
package enum DescriptionRequest: Sendable {
    case list
    /// The text without its secrets.
    case read(DescriptionKind)
    /// The text with all files behind it, without their secrets.
    /// - Parameter 0: it may quote the files; their secrets are taken out of it, too.
    case support([UInt8])
    /// Checks a text, puts the kept secrets back and replaces the file.
    /// - Parameter replaces: the tag of the version that was edited; `nil` if there must not be a file.
    case write(DescriptionKind, [UInt8], replaces: String?)
}

package enum DescriptionOutcome: Sendable {
    case list([(DescriptionKind, exists: Bool)])
    case text([UInt8], tag: String)
    case support([UInt8])
    case missing
    /// - Parameter warnings: what is doubtful about the file.
    case written(tag: String, warnings: [DescriptionFault])
    /// Someone else has changed the file since.
    /// - Parameter tag: of the present version; `nil` if there is no file.
    case changed(tag: String?)
    case faulty([DescriptionFault])
    /// The card's error.
    case failed(String)
}

/// Names one version of a file.
private func tag(of text: [UInt8]) -> String { SHA256.digest(of: text).hexadecimal }

extension BootPartition {
    /// - Parameter faultLimit: a garbage file has very many faults.
    mutating func answer(_ request: DescriptionRequest, faultLimit: Int = 50) -> DescriptionOutcome {
        switch request {
        case .list: return .list(DescriptionKind.allCases.map { ($0, isRegularFile(path(of: $0)) == true) })
        case .read(let kind):
            do throws(SystemCallError) {
                guard let text = try text(of: kind) else { return .missing }
                return .text(KeptSecrets(in: text, isCorrect: Self.isJSON(text)).masked, tag: tag(of: text))
            } catch {
                return .failed("\(error)")
            }
        case .support(let head): return .support(support(head))
        case .write(let kind, let text, let replaced): return write(kind, text, replacing: replaced, faultLimit)
        }
    }

    private func support(_ head: [UInt8]) -> [UInt8] {
        var (head, files) = (head, [UInt8]())
        for kind in DescriptionKind.allCases {
            files += "== \(kind.rawValue)\n".utf8
            do throws(SystemCallError) {
                let text = try text(of: kind)
                let kept = KeptSecrets(in: text ?? [], isCorrect: text.map(Self.isJSON) ?? true)
                head = kept.removed(from: head)
                files += (text == nil ? Array("(missing)".utf8) : kept.masked) + [0x0A, 0x0A]
            } catch {
                files += "(\(error))\n\n".utf8
            }
        }
        return head + files
    }

    private mutating func write(
        _ kind: DescriptionKind, _ edited: [UInt8], replacing replaced: String?, _ faultLimit: Int
    ) -> DescriptionOutcome {
        do throws(SystemCallError) {
            let present = try text(of: kind)
            guard present.map(tag) == replaced else { return .changed(tag: present.map(tag)) }
            // The edited text was masked as the present one.
            let isCorrect = present.map(Self.isJSON) ?? true
            let text = KeptSecrets(in: present ?? [], isCorrect: isCorrect).restored(in: edited, isCorrect: isCorrect)
            guard text.count <= SettingsFile.sizeLimit else {
                return .failed("the file is larger than \(SettingsFile.sizeLimit) bytes")
            }
            let faults = Array(Self.faults(of: kind, in: text).prefix(faultLimit))
            guard faults.allSatisfy(\.isWarning) else { return .faulty(faults) }
            if let failure = write([.init(name: kind.rawValue, contents: text)]).failure { return .failed(failure) }
            return .written(tag: tag(of: text), warnings: faults)
        } catch {
            return .failed("\(error)")
        }
    }

    private static func isJSON(_ text: [UInt8]) -> Bool { (try? JSONValue(parsing: text)) != nil }

    private static func faults(of kind: DescriptionKind, in text: [UInt8]) -> [DescriptionFault] {
        do {
            return kind.faults(of: try JSONValue(parsing: text), vocabulary: .standard)
        } catch {
            return [error.fault(example: kind.example)]
        }
    }

    private func path(of kind: DescriptionKind) -> String { "\(directory)/\(kind.rawValue)" }

    /// - Returns: `nil` if there is no file.
    private func text(of kind: DescriptionKind) throws(SystemCallError) -> [UInt8]? {
        do throws(SystemCallError) {
            return try readRegularFile(path(of: kind), limit: SettingsFile.sizeLimit)
        } catch {
            guard error.number == ENOENT else { throw error }
            return nil
        }
    }
}
