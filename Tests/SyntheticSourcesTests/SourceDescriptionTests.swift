import DevicePorts
import LinuxIO
import Media
import SyntheticSources
import Testing

@Suite struct SourceDescriptionTests {
    private func video(
        _ path: String, _ format: PixelFormat = .i420, _ width: Int = 640, _ height: Int = 480, _ fps: Int = 30
    )
        -> VideoSourceDescription
    {
        .raw(
            path: path, format: format, size: FrameSize(width: width, height: height),
            frameRate: FrameRate(framesPerSecond: fps))
    }

    @Test func readsVideoSources() throws {
        #expect(try VideoSourceDescription(parsing: "synthetic") == .synthetic)
        #expect(try VideoSourceDescription(parsing: "none") == .none)
        let settings = "format=i420,size=640x480,fps=30"
        for path in ["a", "-", "/tmp/a.yuv", "a,b", "a=b", "/x,y=z/a,b=c.yuv", ",", "raw:a", "a b", "ü"] {
            #expect(try VideoSourceDescription(parsing: "raw:\(path),\(settings)") == video(path))
        }
        #expect(try VideoSourceDescription(parsing: "raw:a,fps=1,size=3x5,format=nv12") == video("a", .nv12, 3, 5, 1))
        for format in PixelFormat.allCases {
            let text = "raw:a,format=\(format.rawValue),size=640x480,fps=30"
            #expect(try VideoSourceDescription(parsing: text) == video("a", format))
        }
        #expect(
            try VideoSourceDescription(parsing: "raw:a,size=8192x2,fps=240,format=i420")
                == video("a", .i420, 8192, 2, 240))
    }

    @Test(arguments: [
        ("", "synthetic, none or raw:PATH"), ("Synthetic", "synthetic, none or raw:PATH"), ("raw:", "path"),
        ("raw:a", "format="), ("raw:,format=i420,size=2x2,fps=1", "path"), ("raw:a,size=2x2,fps=1", "format="),
        ("raw:a,format=i420,fps=1", "size="), ("raw:a,format=i420,size=2x2", "fps="),
        (
            "raw:a,format=yuv,size=2x2,fps=1",
            "format is i420, nv12, yuyv, uyvy, rgb888, bgr888, bgra, rgba or bgrx, not \"yuv\""
        ),
        ("raw:a,format=,size=2x2,fps=1", "format is"), ("raw:a,format=i420,size=2,fps=1", "size is"),
        ("raw:a,format=i420,size=2x2x2,fps=1", "size is"), ("raw:a,format=i420,size=x2,fps=1", "size is"),
        ("raw:a,format=i420,size=1x2,fps=1", "size is"), ("raw:a,format=i420,size=2x8193,fps=1", "size is"),
        ("raw:a,format=i420,size=-4x4,fps=1", "size is"), ("raw:a,format=i420,size=2x2,fps=0", "fps is"),
        ("raw:a,format=i420,size=2x2,fps=241", "fps is"), ("raw:a,format=i420,size=2x2,fps=29.97", "fps is"),
        ("raw:a,format=i420,size=2x2,fps=99999999999999999999", "fps is"),
        ("raw:a,format=i420,size=2x2,rate=1,fps=1", "\"rate\" is not one of format, size, fps"),
        ("raw:a,format=i420,size=2x2,fps=1,fps=2", "fps is given twice"),
        ("raw:a,fps=1,format=i420,size=2x2,fps=2", "fps is given twice"),
    ])
    func reportsWhatIsWrongWithAVideoSource(text: String, part: String) {
        do {
            let source = try VideoSourceDescription(parsing: text)
            Issue.record("\(text) was read as \(source)")
        } catch {
            #expect("\(error)".contains(part), "\(error)")
            #expect("\(error)".contains(text), "\(error)")
        }
    }

    @Test func readsAudioSources() throws {
        #expect(try AudioSourceDescription(parsing: "tone") == .tone)
        #expect(try AudioSourceDescription(parsing: "silence") == .silence)
        #expect(try AudioSourceDescription(parsing: "none") == .none)
        for (text, path, sample, rate, channels) in [
            ("raw:-,rate=48000,channels=2", "-", .s16le, 48_000, 2),
            ("raw:a,b=c.pcm,channels=1,rate=8000", "a,b=c.pcm", .s16le, 8000, 1),
            ("raw:a,b=c.pcm,format=f32le,channels=8,rate=192000", "a,b=c.pcm", .f32le, 192_000, 8),
            ("raw:a,channels=6,rate=96000,format=s32le", "a", .s32le, 96_000, 6),
            ("raw:a,format=s16le,rate=44100,channels=2", "a", .s16le, 44_100, 2),
        ] as [(String, String, RawAudioFormat.Sample, Int, Int)] {
            let format = RawAudioFormat(sample: sample, sampleRate: rate, channelCount: channels)
            #expect(try AudioSourceDescription(parsing: text) == .raw(path: path, format: format))
        }
    }

    @Test(arguments: [
        ("", "tone, silence, none or raw:PATH"), ("raw:", "path"), ("raw:a,channels=1", "rate="),
        ("raw:a,rate=44100", "channels="), ("raw:a,rate=7999,channels=1", "rate is"),
        ("raw:a,rate=192001,channels=1", "rate is a whole number from 8000 to 192000, not \"192001\""),
        ("raw:a,rate=x,channels=1", "rate is"),
        ("raw:a,rate=44100,channels=9", "channels is a whole number from 1 to 8, not \"9\""),
        ("raw:a,rate=44100,channels=2,format=s24le", "format is s16le, s32le or f32le, not \"s24le\""),
        ("raw:a,rate=44100,format=f32le", "channels="), ("raw:,rate=44100,channels=2,format=f32le", "path"),
        ("raw:a,rate=44100,channels=0", "channels is"),
        ("raw:a,rate=44100,size=1,channels=1", "\"size\" is not one of rate, channels, format"),
        ("raw:a,channels=1,rate=44100,channels=1", "channels is given twice"),
    ])
    func reportsWhatIsWrongWithAnAudioSource(text: String, part: String) {
        do {
            let source = try AudioSourceDescription(parsing: text)
            Issue.record("\(text) was read as \(source)")
        } catch {
            #expect("\(error)".contains(part), "\(error)")
        }
    }

    @Test func opensTheDescribedSource() throws {
        let stop = try EventFD()
        let size = FrameSize(width: 64, height: 48)
        let rate = FrameRate(framesPerSecond: 5)
        #expect(try VideoSourceDescription.none.open(size: size, frameRate: rate, stop: stop) == nil)
        let pattern = try VideoSourceDescription.synthetic.open(size: size, frameRate: rate, stop: stop)
        #expect(pattern?.layout == FrameLayout(packed: .i420, size: size))
        #expect(pattern?.frameRate == rate)
        #expect(try AudioSourceDescription.none.open(sampleRate: 48_000, stop: stop) == nil)
        for source in [AudioSourceDescription.tone, .silence] {
            let format = try source.open(sampleRate: 22_050, stop: stop)?.format
            #expect(format == AudioFormat(sampleRate: 22_050, channelCount: 2))
        }
    }
}
