import Glibc
import LinuxIO
import Media
import StreamFile
import Transport

/// Where a stream goes. Every connection gets a URL of its own: a signature serves once.
final class PublishDestination {
    private enum Kind {
        case url(RTMPURL)
        case described(StreamDescription, noncePath: String?)
    }

    private let kind: Kind
    /// Read from the disk once: what this process has given is never below it, and most connections then
    /// need no write.
    private var nonces: NonceSequence
    /// For messages; without stream name and query.
    let label: String

    init(url: RTMPURL) {
        kind = .url(url)
        nonces = NonceSequence(savedText: nil)
        label = "\(url)"
    }

    /// - Parameter stateDirectory: where the last nonce is kept, so that it never goes back.
    init(_ stream: StreamDescription, stateDirectory: String) {
        label = stream.destination
        if case .pili(let pili) = stream.form {
            let name = "\(pili.hub).\(pili.title)".map { $0.isLetter || $0.isNumber || "._-".contains($0) ? $0 : "_" }
            let path = "\(stateDirectory)/nonce-\(String(name))"
            kind = .described(stream, noncePath: path)
            nonces = NonceSequence(savedText: try? readFile(path, limit: 4096))
        } else {
            kind = .described(stream, noncePath: nil)
            nonces = NonceSequence(savedText: nil)
        }
    }

    var authorityFile: String? {
        if case .described(let stream, _) = kind { stream.caFile } else { nil }
    }

    /// What the service asks of a stream.
    var platform: PlatformProfile {
        switch kind {
        case .url(let url): PlatformProfile(host: url.host)
        case .described(let stream, _): stream.platform
        }
    }

    /// The media as the service takes it. A stream that the service would refuse, or never show, ends here.
    /// - Parameter warnings: gets what was changed.
    func fitted(_ media: MediaOptions, warnings: inout [String]) throws(CommandFailure) -> MediaOptions {
        let platform = platform
        if platform.requiresTLS, case .url(let url) = kind, url.scheme != .rtmps {
            throw .usage("\(platform.name) takes RTMPS only; begin the URL with rtmps://")
        }
        var media = media
        media.keyFrameInterval = platform.keyFrameInterval
        if platform.requiresAudio, media.audio == .none {
            media.audio = .silence
            warnings.append("\(platform.name) shows no stream without sound; silence is sent")
        }
        return media
    }

    /// The URL for one connection. Saves the nonce before it is used.
    func connectionURL() throws -> RTMPURL {
        switch kind {
        case .url(let url): return url
        case .described(let stream, let noncePath):
            let signed = try stream.publishURL(unixSeconds: WallClock.secondsSince1970(), nonces: &nonces) {
                HMACSHA1.authenticationCode(for: $1, key: $0)
            }
            if let noncePath, let text = nonces.unsavedText {
                try save(text, to: noncePath)
                nonces.saved()
            }
            return signed
        }
    }

    private func save(_ text: String, to path: String) throws {
        var directory = ""
        for component in path.split(separator: "/").dropLast() {
            directory += "/\(component)"
            mkdir(directory, 0o700)
        }
        do {
            try replaceFile(path, with: Array(text.utf8), permissions: 0o600)
        } catch {
            throw CommandFailure(
                .system,
                "the last nonce cannot be saved: \(error); the server would refuse the next start. "
                    + "Set TALLYCAM_STATE_DIR to a directory that can be written")
        }
    }

    /// `$TALLYCAM_STATE_DIR`, else where the XDG base directory specification says.
    static var standardStateDirectory: String {
        if let directory = environment("TALLYCAM_STATE_DIR"), !directory.isEmpty { return directory }
        if let directory = environment("XDG_STATE_HOME"), !directory.isEmpty { return "\(directory)/tallycam" }
        return "\(environment("HOME") ?? "/var/lib")/.local/state/tallycam"
    }
}
