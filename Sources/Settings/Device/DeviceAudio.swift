import Media

// `audio` of device.json.
extension DeviceDescription {
    mutating func readAudio(_ reader: inout DescriptionReader, _ vocabulary: DeviceVocabulary) {
        let example = #""audio": {"source": "microphone", "quality": "High2"}"#
        let given: (source: String?, quality: String?)? = reader.object("audio", example: example) { audio in
            readMicrophones(&audio)
            return (
                audio.choice("source", of: AudioSource.allCases.map(\.rawValue), example: #""source": "microphone""#),
                audio.choice("quality", of: vocabulary.audioQualities, example: #""quality": "High2""#)
            )
        }
        audioSource = given?.source.flatMap(AudioSource.init) ?? audioSource
        audioQuality = given?.quality ?? audioQuality
    }

    private mutating func readMicrophones(_ audio: inout DescriptionReader) {
        let example = #""sources": [{"device": "hw:1", "gain": 6}, {"device": "hw:2"}]"#
        let given = audio.objects("sources", example: example) { source -> Microphone? in
            let device = source.name("device", required: true, example: #""device": "hw:1""#)
            let gain = source.number("gain", in: MicrophoneLevel.gainRange, unit: "dB", example: #""gain": 6"#)
            let mute = source.flag("mute", example: #""mute": true"#)
            return Microphone(
                device: device ?? "", MicrophoneLevel(gain: gain?.value, isMuted: mute?.value ?? false))
        }
        microphones = given ?? []
        let most = Self.largestMicrophoneCount
        guard microphones.count > most else { return }
        audio.report(
            .invalidValue, "sources", "may list at most \(most) microphones, lists \(microphones.count)",
            example: example)
    }
}
