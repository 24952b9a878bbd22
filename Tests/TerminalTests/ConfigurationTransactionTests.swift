import StreamLogic
import Testing

@testable import Terminal

@Suite struct ConfigurationTransactionTests {
    private typealias Action = ConfigurationTransaction.Action

    /// The request for these changes, given as pairs of name and value.
    private func changes(_ words: String...) throws -> [Action] {
        [.command(.apply(try RequestedChanges(parsing: words)))]
    }

    @Test func severalChangesAreOneTransaction() throws {
        var transaction = ConfigurationTransaction()
        #expect(transaction.lineReceived("begin") == [.answer(["transaction open: further changes wait for commit"])])
        #expect(transaction.lineReceived("set quality medium2") == [.answer(["noted: quality Medium2"])])
        #expect(transaction.lineReceived("set fps 15 mute on") == [.answer(["noted: fps 15", "noted: mute on"])])
        let all = try changes("quality", "Medium2", "fps", "15", "mute", "on")
        #expect(transaction.lineReceived("commit") == all)
        // The transaction is over.
        #expect(try transaction.lineReceived("set fps 10") == changes("fps", "10"))
    }

    @Test func pauseTakesOnOrOff() {
        var transaction = ConfigurationTransaction()
        #expect(transaction.lineReceived("pause on") == [.command(.pause(true))])
        #expect(transaction.lineReceived("pause off") == [.command(.pause(false))])
        for line in ["pause", "pause maybe", "pause on on"] {
            #expect(transaction.lineReceived(line) == [.refuse(.command(.usage(.pause, on: .publish, meant: nil)))])
        }
    }

    @Test func oneLineIsATransactionToo() throws {
        var transaction = ConfigurationTransaction()
        let actions = transaction.lineReceived("  set quality Low2  audio-quality Low1\r")
        #expect(try actions == changes("quality", "Low2", "audio-quality", "Low1"))
    }

    @Test func badValueKeepsTheNotedChanges() throws {
        var transaction = ConfigurationTransaction()
        _ = transaction.lineReceived("begin")
        _ = transaction.lineReceived("set fps 10")
        #expect(refusal(transaction.lineReceived("set mute on quality none")) != nil)
        #expect(try transaction.lineReceived("commit") == changes("fps", "10"))
    }

    @Test func cancelDropsTheNotedChanges() {
        var transaction = ConfigurationTransaction()
        _ = transaction.lineReceived("begin")
        _ = transaction.lineReceived("set fps 10")
        #expect(transaction.lineReceived("cancel") == [.answer(["1 change discarded"])])
        #expect(refusal(transaction.lineReceived("commit")) == .noTransaction(for: .commit))
    }

    private func refusal(_ actions: [Action]) -> CommandRefusal? {
        guard actions.count == 1, case .refuse(let refusal) = actions[0] else { return nil }
        return refusal
    }

    @Test(arguments: ["set", "set quality", "set quality Low1 fps", "begin now", "commit", "cancel", "foo", "SETT x y"])
    func invalidCommandIsRefused(line: String) {
        var transaction = ConfigurationTransaction()
        #expect(refusal(transaction.lineReceived(line)) != nil)
    }

    @Test(arguments: ["begin", "COMMIT", "cancel", "settings", "stop", "help"])
    func commandWithTooManyWordsIsAnsweredWithItsUsage(command: String) {
        var transaction = ConfigurationTransaction()
        guard case .command(.usage(let name, _, nil))? = refusal(transaction.lineReceived("\(command) now")) else {
            Issue.record("\(command) is taken")
            return
        }
        #expect(name.rawValue == command.lowercased())
    }

    @Test func misspelledCommandIsUnknown() {
        var transaction = ConfigurationTransaction()
        #expect(refusal(transaction.lineReceived("comit")) == .command(.unknown("comit", on: .publish)))
    }

    /// Refusals are stored as events, but a publish URL typed in the wrong place is a secret.
    @Test(arguments: [
        "rtmp://host/live/hush-hush", "push rtmp://host/live/hush-hush", "set rtmp://host/live/hush-hush 1",
        "set quality rtmp://host/live/hush-hush", "set audio-quality rtmp://host/live/hush-hush",
        "set audio-quality High1@rtmp://host/live/hush-hush", "set bitrate rtmp://host/live/hush-hush",
        "set fps RTMPS://host/live/hush-hush", "set dimension rtmp://host/live/hush-hush",
        "set adapt rtmp://host/live/hush-hush", "set mute rtmp://host/live/hush-hush",
        "set keep-audio-quality rtmp://host/live/hush-hush", "set rtmp://host/live/hush-hush",
    ])
    func urlIsNotRepeated(line: String) throws {
        for command in [[line], ["begin", line]] {
            var transaction = ConfigurationTransaction()
            let reason = try #require(refusal(command.reduce([]) { _, line in transaction.lineReceived(line) }))
                .description
            #expect(!reason.contains("hush") && !reason.contains("host"), "\(reason)")
        }
    }

    @Test func camerasAreSwitchedAtOnce() {
        var transaction = ConfigurationTransaction()
        #expect(transaction.lineReceived("camera back") == [.command(.switchCamera(.named("back")))])
        #expect(transaction.lineReceived("camera next") == [.command(.switchCamera(.next))])
        for line in ["camera", "camera a b"] {
            guard case .refuse = transaction.lineReceived(line).first else {
                Issue.record("\(line) is taken")
                continue
            }
        }
    }

    @Test func snapshotIsTakenAtOnce() {
        var transaction = ConfigurationTransaction()
        _ = transaction.lineReceived("begin")
        let request = SnapshotRequest(CommandID(0), path: "/tmp/a.jpg")
        #expect(transaction.lineReceived("snapshot /tmp/a.jpg") == [.command(.takeSnapshot(request))])
        let small = SnapshotRequest(CommandID(0), quality: 30, path: "a.jpg")
        #expect(transaction.lineReceived("snapshot a.jpg 30") == [.command(.takeSnapshot(small))])
        for line in [
            "snapshot", "snapshot -", "snapshot \"a.jpg", "snapshot a.jpg 0", "snapshot a.jpg 101",
            "snapshot a.jpg best", "snapshot a b c",
        ] {
            #expect(refusal(transaction.lineReceived(line)) != nil, "\(line)")
        }
        #expect(refusal(transaction.lineReceived("torch on")) == .command(.unavailable(.torch)))
    }

    @Test func settingsIncludeNotedChanges() {
        var transaction = ConfigurationTransaction()
        #expect(transaction.lineReceived("settings") == [.ask(.settings, .text)])
        _ = transaction.lineReceived("begin")
        _ = transaction.lineReceived("set fps 10")
        #expect(transaction.lineReceived("settings") == [.answer(["noted: fps 10"]), .ask(.settings, .text)])
    }

    @Test func streamIsAskedForTheWantedForm() {
        var transaction = ConfigurationTransaction()
        #expect(transaction.lineReceived("status") == [.ask(.status, .text)])
        #expect(transaction.lineReceived("status json") == [.ask(.status, .json)])
        #expect(transaction.lineReceived("quality") == [.ask(.status, .quality)])
        #expect(transaction.lineReceived("controls") == [.ask(.controls, .text)])
        #expect(transaction.lineReceived("controls json") == [.ask(.controls, .json)])
    }

    @Test func shortFormsOfSetAreEquivalent() throws {
        var transaction = ConfigurationTransaction()
        #expect(try transaction.lineReceived("mute on") == changes("mute", "on"))
        #expect(try transaction.lineReceived("quality Low2") == changes("quality", "Low2"))
        _ = transaction.lineReceived("begin")
        #expect(transaction.lineReceived("mute off") == [.answer(["noted: mute off"])])
    }

    @Test func formerCommandNamesTheNewOnes() {
        var transaction = ConfigurationTransaction()
        #expect(transaction.lineReceived("show") == [.refuse(.command(.unknown("show", on: .publish)))])
    }

    @Test func emptyLinesAreIgnored() {
        var transaction = ConfigurationTransaction()
        #expect(transaction.lineReceived("  \t") == [])
        #expect(transaction.lineReceived("stop") == [.command(.stop)])
        #expect(transaction.lineReceived("help") == [.answer(CommandDescription.help(on: .publish))])
    }
}
