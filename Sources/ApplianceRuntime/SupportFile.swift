import ApplianceLogic
import CardStorage
import CommandChannels
import LinuxIO
import Media
import StreamLogic
import Terminal

// Everything that helps to find a fault, in one text without secrets.
extension PageDuty {
    func writeSupport(for id: UInt64, now: MediaTimestamp) {
        var checkup: [String] = []
        let asker = CommandAsker(on: .page) { [weak self] answer, _ in
            checkup += answer.lines
            if answer.isComplete { self?.finishSupport(checkup, for: id) }
        }
        // Another one may be under way: then the file says so.
        if let answer = device.doctor.start(for: asker, now: now) { asker.answer(answer) }
    }

    private func finishSupport(_ checkup: [String], for id: UInt64) {
        let now = MonotonicClock.now()
        let faults = device.appliance.faultBook.lines
        let parts: [(String, [String])] = [
            ("status", ApplianceStatus(of: device, now: now).lines), ("faults", faults.isEmpty ? ["none"] : faults),
            ("doctor", checkup), ("events", device.events.lines),
        ]
        let texts = parts.map { "== \($0)\n\($1.joined(separator: "\n"))\n\n" }
        let head = "Tallycam \(Program.version), support file, \(WallClock.calendarTime().text)\n\n"
        device.card.give(.edit(id, .support(Array((head + texts.joined()).utf8))), now: now)
    }
}
