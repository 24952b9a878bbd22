import StreamLogic

/// How somebody reads what Tallycam says.
enum ReaderForm: Hashable {
    /// Lines for people.
    case text
    /// One JSON value in a line, for programs.
    case json
}

/// Somebody who gives commands: the button, the serial console, a client of the control socket. Anything that can take an answer can
/// be one. Used from the main thread.
struct CommandAsker {
    /// The commands that it has, as `help` lists them.
    let surface: CommandSurface
    /// How it reads answers. A command may ask for another form.
    private(set) var form: ReaderForm
    /// It sees the events, so a command whose result is an event is answered before that result.
    let seesEvents: Bool
    private let deliver: (CommandAnswer, ReaderForm) -> Void

    /// - Parameter deliver: takes an answer and the form to write it in. It must not fail: an asker that is gone ignores it.
    init(
        on surface: CommandSurface, form: ReaderForm = .text, seesEvents: Bool = false,
        deliver: @escaping (CommandAnswer, ReaderForm) -> Void
    ) {
        self.surface = surface
        self.form = form
        self.seesEvents = seesEvents
        self.deliver = deliver
    }

    func answer(_ answer: CommandAnswer) { deliver(answer, form) }

    /// - Parameter form: `nil` for its own.
    func reading(_ form: ReaderForm?) -> CommandAsker {
        var asker = self
        asker.form = form ?? self.form
        return asker
    }
}
