import ApplianceLogic
import CardStorage
import DeviceStreams
import LinuxIO
import Media

/// One examination of the device: asks card, network, server and drivers on threads that may hang, and judges what they find.
/// Publishes nothing. Used from one thread, which polls `fileDescriptor` until `nextDeadline` and calls `advance`.
public final class DoctorRun {
    enum Report: Sendable {
        case card(CardExamination)
        case found(CheckupFinding)
    }

    private let reports: Mailbox<Report>
    private let examiner: DoctorExaminer
    private let start: MediaTimestamp
    /// When the steps after the card started; `nil` before.
    private var nextStart: MediaTimestamp?
    private var checkup = Checkup()
    private var ready: [CheckupLine] = []
    private var isSummaryTaken = false

    /// - Parameter card: the card's thread, or the caller's own for a program without one.
    public init(
        _ settings: ApplianceSettings, _ engine: any StreamEngine,
        knowing knowledge: DoctorKnowledge = DoctorKnowledge(),
        card: CardCalls = .onCallingThread, now: MediaTimestamp
    ) throws(SystemCallError) {
        reports = try Mailbox()
        start = now
        examiner = DoctorExaminer(
            settings: settings, engine: engine, knowledge: knowledge, card: card, reports: reports)
        for finding in knowledge.findings { take(finding) }
        try examiner.examineCard()
    }

    /// Readable when `advance` has something to do.
    public var fileDescriptor: Int32 { reports.wakeup.fileDescriptor }

    /// When the next step's time is over; `nil` when all steps are known.
    public var nextDeadline: MediaTimestamp? { checkup.openSteps.compactMap(deadline).min() }

    /// - Returns: the lines that have become known, in the order of the steps.
    public func advance(now: MediaTimestamp) -> [CheckupLine] {
        for report in reports.takeAll() {
            switch report {
            case .found(let finding): take(finding)
            case .card(let card):
                var finding = card.finding
                finding.writeFailures = examiner.knowledge.cardFailures + finding.writeFailures
                take(.card(finding))
                examineRest(card.files.value, now: now)
            }
        }
        for step in checkup.openSteps {
            guard let deadline = deadline(step), deadline <= now else { continue }
            take(.notChecked(step, .late(after: Self.limit(step))))
            if step == .card { examineRest(examiner.knowledge.files ?? DescriptionFiles(), now: now) }
        }
        defer { ready = [] }
        return ready
    }

    /// `nil` until all steps are known, and after the summary has been taken.
    public func takeSummary() -> CheckupSummary? {
        guard checkup.isComplete, !isSummaryTaken else { return nil }
        isSummaryTaken = true
        return checkup.summary
    }

    /// Whether steps are open, or a driver has kept one of the run's threads. More runs would leave more threads behind.
    public var isAtWork: Bool { !isSummaryTaken || examiner.threads.value.load(ordering: .relaxed) > 0 }

    private func take(_ finding: CheckupFinding) { ready += checkup.found(finding) }

    private func examineRest(_ files: DescriptionFiles, now: MediaTimestamp) {
        guard nextStart == nil else { return }
        nextStart = now
        for finding in examiner.examine(checkup.openSteps, files) { take(finding) }
    }

    private func deadline(_ step: CheckupStep) -> MediaTimestamp? {
        guard step != .card else { return start + Self.limit(.card) }
        return nextStart.map { $0 + Self.limit(step) }
    }

    /// Longer than the limits of the calls themselves, whose errors say more.
    private static func limit(_ step: CheckupStep) -> Duration {
        switch step {
        case .card, .network, .time, .key, .microphone, .button, .light, .recording: .seconds(5)
        case .nameLookup: DoctorExaminer.timeouts.lookup + .seconds(2)
        case .camera, .encoder: .seconds(8)
        case .server: .seconds(15)
        }
    }
}
