import Encoding
import LinuxIO
import StreamLogic

/// A connection's thread, and how to send it commands.
final class RunningConnection {
    let commands: Mailbox<ConnectionCommand>
    let thread: JoinableThread

    init(
        id: ConnectionID, plan: ConnectionPlan, network: PublisherNetwork, queue: SinkBuffer,
        report: @escaping @Sendable (ConnectionEvent) -> Void
    ) throws {
        let commands = try Mailbox<ConnectionCommand>()
        self.commands = commands
        thread = JoinableThread(
            try NamedThread("network") {
                ConnectionThread(
                    id: id, plan: plan, network: network, queue: queue, commands: commands, report: report
                ).run()
            })
    }
}
