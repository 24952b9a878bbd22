import StreamLogic

/// How answers and events are read.
package enum ReaderForm: Hashable {
    /// Lines for people.
    case text
    /// One JSON value per line, for programs.
    case json
}

/// Someone who gives commands: the button, the serial console, a client of the control socket, or anything else that can
/// receive an answer. Used from the main thread.
package struct CommandAsker {
    /// The commands available to it, as `help` lists them.
    package let surface: CommandSurface
    /// How it reads answers. A command may request another form.
    package private(set) var form: ReaderForm
    /// Whether it sees the events. If so, a command whose result is an event is answered right away.
    package let seesEvents: Bool
    private let deliver: (CommandAnswer, ReaderForm) -> Void

    /// - Parameter deliver: takes an answer and its form. It must not fail: an asker that is gone ignores it.
    package init(
        on surface: CommandSurface, form: ReaderForm = .text, seesEvents: Bool = false,
        deliver: @escaping (CommandAnswer, ReaderForm) -> Void
    ) {
        self.surface = surface
        self.form = form
        self.seesEvents = seesEvents
        self.deliver = deliver
    }

    package func answer(_ answer: CommandAnswer) { deliver(answer, form) }

    /// - Parameter form: `nil` for its own.
    package func reading(_ form: ReaderForm?) -> CommandAsker {
        var asker = self
        asker.form = form ?? self.form
        return asker
    }
}
