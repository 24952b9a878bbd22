import CALSA
import Glibc
import LinuxIO

/// The devices that ALSA should know. Kept in memory, because a static program has no files in /usr/share/alsa.
enum ALSAConfiguration {
    private static let text = """
        pcm.plughw {
            @args [ CARD DEV ]
            @args.CARD { type string default "0" }
            @args.DEV { type integer default 0 }
            type plug
            slave.pcm { type hw card $CARD device $DEV }
        }
        ctl.hw {
            @args [ CARD ]
            @args.CARD { type string default "0" }
            type hw
            card $CARD
        }
        """

    /// Passes the configuration to `body` and frees it afterwards.
    static func with(_ body: (OpaquePointer) -> Int32) -> Int32 {
        calsa_be_quiet()
        var root: OpaquePointer?
        let status = snd_config_load_string(&root, text, text.utf8.count)
        guard status >= 0, let root else { return status }
        defer { snd_config_delete(root) }
        return body(root)
    }
}

/// A capture device of a sound card.
public struct Microphone: Hashable, Sendable {
    /// In the form that `--audio alsa:` accepts.
    public let device: String
    public let name: String
    /// The same device with the card's number.
    public let numberedDevice: String

    /// Every capture device of every card, in numerical order.
    public static func all() -> [Microphone] {
        var microphones: [Microphone] = []
        var card: Int32 = -1
        while snd_card_next(&card) >= 0, card >= 0 { microphones += devices(ofCard: card) }
        return microphones
    }

    /// Like `all`, with a time limit; empty if a sound card's driver does not answer in time.
    public static func allAnswering() -> [Microphone] {
        (try? NodeOccupancy.call(of: "/dev/snd", timeout: MicrophoneError.answerTimeout) { all() }) ?? []
    }

    /// Why `all` is empty.
    public static var absence: String {
        access("/dev/snd", F_OK) == 0
            ? "no sound card can record, or this user may not open it in /dev/snd (join the group audio)"
            : "the kernel has no sound card (no /dev/snd)"
    }

    private static func devices(ofCard card: Int32) -> [Microphone] {
        var control: OpaquePointer?
        let status = ALSAConfiguration.with { snd_ctl_open_lconf(&control, "hw:\(card)", 0, $0) }
        guard status >= 0, let control else { return [] }
        defer { snd_ctl_close(control) }
        var info: OpaquePointer?
        guard snd_pcm_info_malloc(&info) >= 0, let info else { return [] }
        defer { snd_pcm_info_free(info) }
        var cardInfo: OpaquePointer?
        guard snd_ctl_card_info_malloc(&cardInfo) >= 0, let cardInfo else { return [] }
        defer { snd_ctl_card_info_free(cardInfo) }
        guard snd_ctl_card_info(control, cardInfo) >= 0 else { return [] }
        let cardName = String(cString: snd_ctl_card_info_get_id(cardInfo))
        var microphones: [Microphone] = []
        var device: Int32 = -1
        while snd_ctl_pcm_next_device(control, &device) >= 0, device >= 0 {
            snd_pcm_info_set_device(info, UInt32(device))
            snd_pcm_info_set_subdevice(info, 0)
            snd_pcm_info_set_stream(info, SND_PCM_STREAM_CAPTURE)
            guard snd_ctl_pcm_info(control, info) >= 0 else { continue }
            microphones.append(
                Microphone(
                    device: "hw:\(cardName),\(device)", name: String(cString: snd_pcm_info_get_name(info)),
                    numberedDevice: "hw:\(card),\(device)"))
        }
        return microphones
    }
}
