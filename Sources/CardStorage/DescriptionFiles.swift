import ApplianceLogic
import Filters
import FrameFiltering
import Glibc
import JSONText
import LinuxIO
import Settings
import StreamQuality
import Transport

/// The contents of the four files on the boot partition. A faulty file does not affect the others.
package struct DescriptionFiles {
    static let names = ["board.json", "device.json", "network.json", "stream.json"]

    package var board: BoardDescription?
    package var device = DeviceDescription()
    package var network = NetworkDescription()
    package var stream: StreamDescription?
    /// Errors and warnings, in the order of the files.
    package var faults: [FileFault] = []
    /// The texts, for detecting changes.
    package private(set) var streamText: [UInt8] = []
    package private(set) var deviceText: [UInt8] = []
    package private(set) var networkText: [UInt8] = []
    private var boardKeys = DescriptionKeys()
    private var deviceKeys = DescriptionKeys()
    private var networkKeys = DescriptionKeys()
    private var streamKeys = DescriptionKeys()
    /// The certificates that stream.json names, in the state that was checked. Each connection reads them again.
    private var certificates: [(path: String, state: FoundFile)] = []
    /// The files needed by device.json's filters and stream.json's pause, in the state that was checked; `nil` for a missing
    /// file. They are too large to compare their contents every few seconds.
    private var mediaFiles: [String: FileState?] = [:]
    /// device.json's filters, with their files as of then.
    package private(set) var filters = UsableFilters()
    /// The board according to the image's maker, for when the card has no usable description.
    package private(set) var boardOfTheImage: BoardDescription?
    /// Whether the certificates are the stream's only fault. A live stream no longer needs them.
    package private(set) var onlyCertificatesAreWrong = false

    package init() {}

    package static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// - Parameter directory: of the boot partition.
    init(reading directory: String) {
        let boardFile = Self.read(directory, "board.json")
        if let json = take(boardFile, "board.json") {
            let decoded = BoardDescription.decode(json)
            board = decoded.value
            boardKeys = decoded.keys
            add(decoded.faults, "board.json")
        }
        if board == nil { boardOfTheImage = Self.readBoard(Self.wiringOfTheImage) }
        let deviceFile = Self.read(directory, "device.json")
        deviceText = deviceFile.bytes
        if let json = take(deviceFile, "device.json") {
            let decoded = DeviceDescription.decode(json, vocabulary: .standard)
            device = decoded.value ?? decoded.goodPart.map { DeviceDescription(defaultsBeside: $0) } ?? device
            deviceKeys = decoded.keys
            add(decoded.faults, "device.json")
        }
        tellWhetherDeviceIsIgnored()
        checkFilterFiles()
        let networkFile = Self.read(directory, "network.json")
        networkText = networkFile.bytes
        if let json = take(networkFile, "network.json") {
            let decoded = NetworkDescription.decode(json)
            network = decoded.goodPart ?? network
            networkKeys = decoded.keys
            add(decoded.faults, "network.json")
        }
        let streamFile = Self.read(directory, "stream.json")
        streamText = streamFile.bytes
        if let json = take(streamFile, "stream.json") {
            let decoded = StreamDescription.decode(json)
            stream = decoded.value?.located(in: directory)
            streamKeys = decoded.keys
            add(decoded.faults, "stream.json")
            for target in stream?.targets ?? [] { checkCAFile(of: target) }
            checkPauseImage()
        }
    }

    /// Choices are applied together or not at all. This explains why the video differs from what was requested.
    private mutating func tellWhetherDeviceIsIgnored() {
        guard errors.contains(where: { $0.file == "device.json" }) else { return }
        let fault = DescriptionFault(
            kind: .suspicious, keyPath: "", position: .start,
            problem: "the whole file is ignored and defaults apply until it is corrected; "
                + "only a console, page or audio that is switched off stays off")
        add([fault], "device.json")
    }

    private mutating func checkCAFile(of target: TargetDescription) {
        guard let path = target.neededCAFile else { return }
        // Taken before the check, so that no change is missed in between.
        certificates.append((path, FoundFile(reading: path)))
        guard let problem = TLSContext.problem(withAuthorityFile: path) else { return }
        onlyCertificatesAreWrong = true
        faults.append(
            fault(
                .streamFile, "stream.json", target.keyPath(of: "caFile"), problem,
                example: #""caFile": "server.pem" for a PEM file beside stream.json"#))
    }

    /// Whether the certificates have changed, appeared or disappeared since then.
    var certificatesHaveChanged: Bool {
        certificates.contains { FoundFile(reading: $0.path) != $0.state }
    }

    /// Filters with a missing or broken file are skipped, which viewers may see.
    private mutating func checkFilterFiles() {
        // Taken before reading, so that no change is missed in between.
        for path in device.filters.settings.flatMap(\.paths) { mediaFiles[path] = .some(FileState(path)) }
        filters = UsableFilters(device.filters)
        for filter in filters.unusable {
            faults.append(fault(.settings, "device.json", filter.keyPath, filter.problem))
        }
    }

    /// The stream continues without the image, but viewers see something else during a pause.
    private mutating func checkPauseImage() {
        guard let path = stream?.pauseImage else { return }
        mediaFiles[path] = .some(FileState(path))
        do throws(StillImageError) {
            _ = try StillImage(reading: path)
        } catch {
            let problem = "\(error); a pause shows the last frame instead"
            faults.append(fault(.settings, "stream.json", "pauseImage", problem))
        }
    }

    /// Whether files for filters or a pause have changed, appeared or disappeared since then.
    var mediaFilesHaveChanged: Bool { mediaFiles.contains { FileState($0.key) != $0.value } }

    /// Whether stream.json's pause image has changed since `previous`.
    package func hasOtherPauseImage(than previous: DescriptionFiles) -> Bool {
        guard let path = stream?.pauseImage, path == previous.stream?.pauseImage else { return false }
        return mediaFiles[path] != previous.mediaFiles[path]
    }

    /// Whether a file that `previous` could not use is usable now, so that another filter could run.
    package func canUseMoreFilters(than previous: DescriptionFiles) -> Bool {
        func unusableFiles(_ filters: UsableFilters) -> Set<String> { Set(filters.unusable.flatMap(\.setting.paths)) }
        return !unusableFiles(previous.filters).isSubset(of: unusableFiles(filters))
    }

    /// Uses a board description from elsewhere instead of an unreadable one.
    package mutating func takeBoard(_ other: BoardDescription?) {
        board = other
        boardKeys = DescriptionKeys()
    }

    /// A fault that appears only when the description is applied, located at the key that can fix it.
    package func fault(
        _ kind: ApplianceFault, _ file: String, _ key: String, _ problem: String, example: String? = nil,
        isWarning: Bool = false
    ) -> FileFault {
        let keys =
            switch file {
            case "board.json": boardKeys
            case "device.json": deviceKeys
            case "network.json": networkKeys
            default: streamKeys
            }
        return FileFault(
            kind: kind, file: file,
            fault: DescriptionFault(
                kind: isWarning ? .suspicious : .unavailable, keyPath: key, position: keys.position(of: key),
                problem: problem, example: example ?? keys.example(of: key)))
    }

    /// Whether the target's stream key is separate from its URL.
    package func hasStreamKey(of target: TargetDescription) -> Bool { streamKeys.has(target.keyPath(of: "key")) }

    var errors: [FileFault] { faults.filter { !$0.fault.isWarning } }

    /// Choices that are valid but that this board cannot do.
    package var contradictions: [FileFault] {
        guard device.doublePress == .record, device.record.when == .off else { return contradictionsOfTheBoard }
        let fault = fault(
            .settings, "device.json", "doublePress", "is \"record\", but \"record\" is \"off\"",
            example: #""record": "command""#)
        return [fault] + contradictionsOfTheBoard
    }

    private var contradictionsOfTheBoard: [FileFault] {
        guard let board, board.flashLED == nil else { return [] }
        let choices = [
            ("torch", device.torch.rawValue, instead: "off"),
            ("snapshots.flash", device.snapshots.flash.rawValue, instead: "off"),
            ("doublePress", device.doublePress == .torch ? "torch" : "none", instead: "none"),
        ]
        return choices.filter { $0.1 != $0.instead }.map { key, value, instead in
            fault(
                .settings, "device.json", key, "is \"\(value)\", but board.json names no flash LED",
                example: "\"\(key.split(separator: ".").last ?? "")\": \"\(instead)\"")
        }
    }

    private static func kind(of file: String) -> ApplianceFault {
        switch file {
        case "stream.json": .streamFile
        case "board.json": .board
        default: .settings
        }
    }

    /// The board's wiring according to the image.
    private static let wiringOfTheImage = "/etc/tallycam/board.json"

    /// `nil` if the file is missing or faulty.
    private static func readBoard(_ path: String) -> BoardDescription? {
        SettingsFile(reading: path, isRequired: false, example: BoardDescription.example).json.flatMap {
            BoardDescription.decode($0).value
        }
    }

    /// The valid part of the file. A device that is only reachable over the network must not lose it because of another, faulty
    /// key.
    static func readNetwork(_ path: String) -> (NetworkDescription, [DescriptionFault]) {
        let file = SettingsFile(reading: path, isRequired: true, example: NetworkDescription.example)
        guard let json = file.json else { return (NetworkDescription(), file.fault.map { [$0] } ?? []) }
        let decoded = NetworkDescription.decode(json)
        return (decoded.goodPart ?? NetworkDescription(), decoded.faults)
    }

    // MARK: One file

    private static func read(_ directory: String, _ name: String) -> SettingsFile {
        // Choices have defaults; a server and a board do not.
        let example =
            switch name {
            case "board.json": BoardDescription.example
            case "device.json": DeviceDescription.example
            case "network.json": NetworkDescription.example
            default: StreamDescription.example
            }
        return SettingsFile(
            reading: "\(directory)/\(name)", isRequired: name == "stream.json" || name == "board.json",
            example: example)
    }

    private mutating func take(_ file: SettingsFile, _ name: String) -> JSONValue? {
        if let fault = file.fault { add([fault], name) }
        return file.json
    }

    private mutating func add(_ new: [DescriptionFault], _ file: String) {
        // A garbage file may have very many faults. The first ones are enough to start with.
        faults += new.prefix(50).map { FileFault(kind: Self.kind(of: file), file: file, fault: $0) }
    }
}

extension DeviceVocabulary {
    /// The qualities and sizes that this program supports.
    public static let standard = DeviceVocabulary(
        videoQualities: .standard, audioQualities: AudioQuality.presets.map(\.name),
        problemWithDimension: { text in
            do {
                _ = try VideoDimension(parsing: text)
                return nil
            } catch {
                return "\(error)"
            }
        })
}
