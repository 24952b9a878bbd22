import FilePublishing
import Filters
import LinuxIO
import Publishing
import StreamQuality
import Terminal

extension PublishArguments {
    static let usage = "tallycam publish (--url URL | --stream stream.json) [OPTION...]"

    static let options: [CommandLineOption] = sourceOptions + networkOptions + fileOptions

    private static let sourceOptions: [CommandLineOption] =
        [
            CommandLineOption(
                "url", takes: "URL", isSingle: true,
                help: """
                    destination: rtmp://HOST[:PORT]/APPLICATION/STREAM, or rtmps://
                    (command lines are visible to other users; $TALLYCAM_URL is not)
                    """),
            CommandLineOption("stream", takes: "FILE", isSingle: true, help: "destination: a stream.json"),
            CommandLineOption(
                "ca", takes: "FILE",
                help: "PEM file of certificates to trust with rtmps://,\ninstead of the system's"),
            CommandLineOption(
                "video", takes: "SOURCE",
                help: """
                    synthetic (default), none,
                    libcamera[:ID|front|back|external][,SETTING...],
                    v4l2:/dev/videoN[,SETTING...],
                    image:FILE (PNG, JPEG),
                    movie:FILE.mp4[,loop=on], or
                    raw:PATH,format=F,size=WxH,fps=N
                    where F is i420, nv12, yuyv, uyvy, rgb888, bgr888,
                    bgra, rgba or bgrx.
                    A camera's settings are size=WxH, fps=N, format=CODE
                    and its controls, CONTROL=VALUE (tallycam cameras).
                    PATH - is standard input. A file or pipe is read at
                    the rate of its fps (but see --pace).
                    """),
            CommandLineOption(
                "camera", takes: "NAME=SOURCE",
                help: """
                    one of several cameras, instead of --video. The stream starts
                    with the first; the command camera NAME|next switches. SOURCE
                    is as for --video, except raw and none
                    """),
            CommandLineOption(
                "audio", takes: "SOURCE",
                help: """
                    tone (default; with a movie, its own audio),
                    silence, none, movie:FILE.mp4[,loop=on],
                    alsa[:DEVICE][,gain=DB][,mute=on] (tallycam microphones),
                    or raw:PATH,rate=N,channels=N[,format=F]
                    where F is s16le (default), s32le or f32le,
                    8000 to 192000 Hz, 1 to 8 channels, mixed to stereo.
                    Repeat --audio to mix up to four; each may end with
                    [,gain=DB][,mute=on]
                    """),
            CommandLineOption(
                "quality", takes: "NAME|RATE",
                help: """
                    \(VideoQuality.presets.map(\.name).joined(separator: " "))
                    (default \(VideoQuality.standard.name)); or a bit rate such as 4.5M or 3500k, or
                    4.5M@60 for 60 frames per second
                    """
            ),
            CommandLineOption(
                "audio-quality", takes: "NAME",
                help:
                    "\(AudioQuality.presets.map(\.name).joined(separator: " ")) (default \(AudioQuality.standard.name));\n"
                    + "for a sample rate other than 44100: High2@48000 (or 22050, 11025)"
            ),
            CommandLineOption(
                "dimension", takes: "WxH|NAME",
                help: "frame size (default \(VideoDimension.standard.size)), a name such as 720p or\n"
                    + "4:3-720p, or source for the source's own; other sizes are\nrounded to multiples of 16"),
            SourceOptions.orientation,
        ] + AdaptationOptions.options + [
            CommandLineOption(
                "set", takes: "CONTROLS",
                help: """
                    the camera's controls at the start, such as "zoom 2 focus manual"
                    (docs/reference/controls.md); while live, use the command set
                    """),
            CommandLineOption(
                "filter", takes: "NAME[,KEY=VALUE...]",
                help: """
                    filters applied before encoding, in order, such as
                    "text,text=Studio {time},position=bottom-left":
                    \(FilterName.allCases.map(\.rawValue).joined(separator: ", ")) (docs/reference/filters.md)
                    """),
            TimeZoneOption.option,
            CommandLineOption(
                "pause-image", takes: "FILE",
                help: """
                    show this PNG or JPEG while the stream is paused (command
                    pause on|off); without it, the last frame is shown
                    """),
            CommandLineOption("encoder", takes: "NAME", help: "auto (default), v4l2, v4l2:/dev/videoN or openh264"),
            CommandLineOption(
                "preview", takes: "drm[:CONNECTOR]",
                help: """
                    show the sent video on a display of this machine: the first
                    connected one, or that of a connector such as HDMI-A-1
                    """),
            CommandLineOption("timecode", help: "write the time of day into each frame (SEI, MISB ST 0604)"),
            CommandLineOption("duration", takes: "SECONDS", help: "stop after SECONDS of media"),
            CommandLineOption(
                "reconnect", takes: "N", help: "attempts after a failure: a number (default 3) or endless"),
        ]

    private static let networkOptions: [CommandLineOption] =
        StepTimeouts.options + [
            CommandLineOption(
                "status-interval", takes: "SECONDS", help: "seconds between status reports, 1 to 30 (default 3)")
        ]

    private static let fileOptions: [CommandLineOption] =
        PublishedFile.options + [
            SourceOptions.pace,
            CommandLineOption(
                "commands",
                help: """
                    read commands from standard input, as on a terminal: set quality
                    Medium2 changes the live stream at a keyframe; help lists all
                    """),
            CommandLineOption("trace", help: "report ten network measurements per second as events"),
            Console.EventStyle.option,
        ]
}
